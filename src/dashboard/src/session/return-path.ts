/**
 * Returns the page to open after signing in. The path may come from a link, so it is untrusted: only a page of the
 * dashboard is accepted. Anything else leads to the first page.
 */
export function safeReturnPath(wanted: unknown, origin: string): string {
  if (typeof wanted !== 'string' || !URL.canParse(wanted, origin)) return FIRST
  const url = new URL(wanted, origin)
  const isOurs = url.origin === origin && /^\/dashboard(\/|$)/.test(url.pathname)
  // Return the parsed path, so that the router reads the same path that was checked here.
  return isOurs && wanted.startsWith('/dashboard') && !ENTRANCES.test(url.pathname)
    ? url.pathname + url.search + url.hash
    : FIRST
}

const FIRST = '/dashboard'
const ENTRANCES = /^\/dashboard\/(sign-in|forgot|api)(\/|$)/
