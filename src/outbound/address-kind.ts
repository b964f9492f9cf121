/**
 * Classifies IP addresses: on the public internet, on this machine, or in a network that outbound requests must not
 * reach.
 */
import { BlockList, isIPv6 } from 'node:net'

export type AddressKind = 'public' | 'loopback' | 'internal'

/** Non-public IPv4 networks (IANA's special-purpose registry), and the metadata service of Azure. */
const INTERNAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
/** Only 2000::/3 is public in IPv6, except its tunnels and documentation examples. */
const PUBLIC_V6 = ['2000::/3']
const INTERNAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const loopback = listOf('ipv4', ['127.0.0.0/8'])
const internalV4 = listOf('ipv4', INTERNAL_V4)
const publicV6 = listOf('ipv6', PUBLIC_V6)
const internalV6 = listOf('ipv6', INTERNAL_V6)

function listOf(family: 'ipv4' | 'ipv6', networks: string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    list.addSubnet(address, Number(bits), family)
  }
  return list
}

export function addressKind(address: string): AddressKind {
  const plain = embeddedV4(address) ?? address
  if (!isIPv6(plain)) {
    if (loopback.check(plain)) return 'loopback'
    return internalV4.check(plain) ? 'internal' : 'public'
  }
  // Removes the zone, which only link-local addresses have.
  const [unzoned = ''] = plain.split('%')
  if (new URL(`http://[${unzoned}]`).hostname === '[::1]') return 'loopback'
  return publicV6.check(unzoned, 'ipv6') && !internalV6.check(unzoned, 'ipv6') ? 'public' : 'internal'
}

/** IPv4 addresses in IPv6 form: mapped (`::ffff:0:0/96`), and translated for networks without IPv4 (`64:ff9b::/96`). */
const EMBEDDED = /^\[(?:::ffff:|64:ff9b::)(?:([\da-f]{1,4}):)?([\da-f]{1,4})\]$/

/** The IPv4 address that an IPv6 address leads to; undefined when it leads to none. */
function embeddedV4(address: string): string | undefined {
  if (!isIPv6(address) || address.includes('%')) return undefined
  // The URL parser normalizes every address to one form.
  const [, high, low] = EMBEDDED.exec(new URL(`http://[${address}]`).hostname) ?? []
  if (low === undefined) return undefined
  const bits = Number.parseInt(high ?? '0', 16) * 0x1_00_00 + Number.parseInt(low, 16)
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join('.')
}
