/** Finds the network address of the client. */
import { isIP } from 'node:net'
import { addressSeen } from './serve.ts'

/**
 * Returns the address that the server saw or, behind trusted proxies, the one that the outermost of them saw. Each
 * proxy appends an address to X-Forwarded-For; the addresses before those are the caller's own claims. `trustProxy`:
 * the number of proxies.
 */
export function clientAddress(request: Request, { trustProxy }: { trustProxy: number }): string {
  const forwarded = trustProxy > 0 ? request.headers.get('x-forwarded-for') : null
  return forwarded === null ? peerAddress(request) : seenBy(forwarded.split(','), trustProxy)
}

/** Returns one unknown address for everything that is not an address, so that the limits count it as one. */
function seenBy(addresses: string[], proxies: number): string {
  const seen = addresses[Math.max(0, addresses.length - proxies)]?.trim() ?? ''
  const [, address = seen] = /^\[(.*)\](?::\d+)?$/.exec(seen) ?? /^([\d.]+):\d+$/.exec(seen) ?? []
  return isIP(address) === 0 ? UNKNOWN : address
}

const UNKNOWN = 'unknown'

export function peerAddress(request: Request): string {
  return addressSeen(request) ?? UNKNOWN
}

/**
 * Returns the key for limits per address. An IPv6 customer has a whole /64, so all addresses of one /64 count as one.
 * An IPv4 address mapped into IPv6 counts as the IPv4 address.
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
