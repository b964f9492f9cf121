/**
 * Paths are matched as they were sent, so that the rules of a proxy and those of the front door see the same path
 * (decisions, "Envelope"). URL parsers rewrite the spellings below to another path, and proxies disagree on them. No
 * path of the API needs them.
 */

/** The scheme and authority of an absolute-form target (RFC 9112, 3.2.2), which only clients of a proxy send. */
const ORIGIN = /^https?:\/\/[^\s/?#@\\]+/i

/**
 * A backslash, a fragment, an empty segment, a trailing slash, an encoded slash or backslash, or a dot segment in any
 * spelling.
 */
const REWRITTEN = /[\\#]|\/\/|.\/$|%2f|%5c|\/(?:\.|%2e){1,2}(?:\/|$)/i

/**
 * Returns whether the path of a request target (a path or an absolute URL, with or without a query) has only one
 * interpretation.
 */
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
