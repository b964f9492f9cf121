import type { RequestContext } from '../app-context.ts'

/**
 * Returns whether a page of the dashboard sent the request: the page reports errors in its own language. Without a valid
 * Host header, `url` is only a path.
 */
export const isForPage = ({ request }: RequestContext): boolean => /^(https?:\/\/[^/]*)?\/dashboard\//.test(request.url)
