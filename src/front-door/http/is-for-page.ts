import type { RequestContext } from '../app-context.ts'

/** Of the dashboard, which says what is wrong in the language of its page. Without a valid Host, `url` is a path alone. */
export const isForPage = ({ request }: RequestContext): boolean => /^(https?:\/\/[^/]*)?\/dashboard\//.test(request.url)
