/** Where a person goes after signing in. A link may name it, so it is hostile: a page of ours, or the first page. */
export function safeReturnPath(wanted: unknown, origin: string): string {
  if (typeof wanted !== 'string' || !URL.canParse(wanted, origin)) return FIRST
  const url = new URL(wanted, origin)
  const isOurs = url.origin === origin && /^\/dashboard(\/|$)/.test(url.pathname)
  // What the router gets is the parsed path, so that both read the same.
  return isOurs && wanted.startsWith('/dashboard') && !ENTRANCES.test(url.pathname)
    ? url.pathname + url.search + url.hash
    : FIRST
}

const FIRST = '/dashboard'
const ENTRANCES = /^\/dashboard\/(sign-in|forgot|api)(\/|$)/
