/**
 * A path is matched as it was sent, so that a proxy's rules and the front door's see the same path (decisions, "Envelope"). URL parsers
 * rewrite the spellings below to another path, and proxies disagree on them. No path of the API needs them.
 */

/** The scheme and the authority of an absolute-form target (RFC 9112, 3.2.2), which only the client of a proxy sends. */
const ORIGIN = /^https?:\/\/[^\s/?#@\\]+/i

/** A backslash, a fragment, an empty segment, a trailing slash, an encoded slash or backslash, a dot segment in any spelling. */
const REWRITTEN = /[\\#]|\/\/|.\/$|%2f|%5c|\/(?:\.|%2e){1,2}(?:\/|$)/i

/** Whether the path of a request target (a path or an absolute URL, with or without a query) has one reading. */
export function isPlainTarget(target: string): boolean {
  const sent = target.startsWith('/') ? target : target.replace(ORIGIN, '')
  const queryAt = sent.indexOf('?')
  const path = queryAt < 0 ? sent : sent.slice(0, queryAt)
  return (path === '' || path.startsWith('/')) && !REWRITTEN.test(path)
}

/** The same check for one decoded segment. */
export function isPlainSegment(segment: string): boolean {
  return !/^\.{0,2}$|[\\/]/.test(segment)
}
