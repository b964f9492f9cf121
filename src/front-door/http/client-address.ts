/** Where a request comes from. */
import { isIP } from 'node:net'
import type { ServerRequest } from 'srvx'

/**
 * As the server saw it; behind proxies of one's own, as the outermost of them saw it: each adds an address to the end of
 * X-Forwarded-For. Those before are what the caller claims. `trustProxy` counts the proxies.
 */
export function clientAddress(request: Request, { trustProxy }: { trustProxy: number }): string {
  const forwarded = trustProxy > 0 ? request.headers.get('x-forwarded-for') : null
  return forwarded === null ? peerAddress(request) : seenBy(forwarded.split(','), trustProxy)
}

/** Whatever is no address is the same unknown one: limits count by it. */
function seenBy(addresses: string[], proxies: number): string {
  const seen = addresses[Math.max(0, addresses.length - proxies)]?.trim() ?? ''
  const [, address = seen] = /^\[(.*)\](?::\d+)?$/.exec(seen) ?? /^([\d.]+):\d+$/.exec(seen) ?? []
  return isIP(address) === 0 ? UNKNOWN : address
}

const UNKNOWN = 'unknown'

export function peerAddress(request: Request): string {
  return (request as ServerRequest).ip ?? UNKNOWN
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
