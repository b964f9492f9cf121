/** Reads the address of a request: its URL, also without a Host, and the length of what was sent as its target. */

/** Requests of load balancers may have no Host. On Bun, their URL is only a path. */
export const urlOf = ({ url }: Request): URL => new URL(url, 'http://localhost')

/** Maximum length of a path with its query, in characters. */
export const MAX_TARGET = 16_384

/** Returns whether the path with its query is longer than allowed. */
export function isTargetTooLong({ url }: Request): boolean {
  if (url.length <= MAX_TARGET) return false
  const origin = /^\w+:\/\/[^/?#]*/.exec(url)?.[0] ?? ''
  return url.length - origin.length > MAX_TARGET
}
