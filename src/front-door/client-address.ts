/** Where a request comes from. */
import type { ServerRequest } from 'srvx'

/**
 * As the server saw it; behind a trusted proxy, as the proxy saw it: the last address of X-Forwarded-For. Those before it
 * are what the caller claims.
 */
export function clientAddress(request: Request, { trustProxy }: { trustProxy: boolean }): string {
  const seen = trustProxy ? request.headers.get('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined
  return seen || peerAddress(request)
}

function peerAddress(request: Request): string {
  return (request as ServerRequest).ip ?? 'unknown'
}

/**
 * What limits per address count by. One IPv6 customer holds a whole /64, so that its addresses are one;
 * an IPv4 address mapped into IPv6 is itself.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)
  if (mapped?.[1] !== undefined) return mapped[1]
  const [head = '', tail = ''] = address.toLowerCase().split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === '' ? [] : tail.split(':')
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0')
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`
}

/** True for a caller on this machine. Whatever came through a proxy is not, even when the proxy is here. */
export function isLoopback(request: Request): boolean {
  if (request.headers.has('x-forwarded-for') || request.headers.has('forwarded')) return false
  return /^(127\.|::1$|::ffff:127\.)/i.test(peerAddress(request))
}
