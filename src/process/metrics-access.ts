/**
 * Decides who may read the metrics of front doors and workers: callers on this machine, and callers with METRICS_TOKEN.
 */
import { createHash, timingSafeEqual } from 'node:crypto'

/**
 * Headers that proxies add. A request through a proxy does not count as local, even if the proxy runs on this machine.
 */
const PROXIED = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-server',
  'x-real-ip',
]

/** `peer`: address of the other end of the connection. `has`: returns whether a header (in lower case) was sent. */
export function isLoopback(peer: string, has: (header: string) => boolean): boolean {
  return /^(127\.|::1$|::ffff:127\.)/i.test(peer) && !PROXIED.some(has)
}

/** Returns whether a caller's Authorization header contains the token. Always false when there is no token. */
export function hasMetricsToken(authorization: string | undefined, token: string | undefined): boolean {
  return authorization !== undefined && token !== undefined && isSame(authorization, `Bearer ${token}`)
}

/** Compares in constant time, for any lengths. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
