/** Email addresses, read strictly: a result can be used in a header and an envelope without further checks. */

/** Limits of RFC 5321: 64 octets before the @, 254 in all. */
const MAX_LOCAL = 64
const MAX_ADDRESS = 254
const MAX_NAME = 200

/** Quotes, comments and address literals are not accepted. */
const LOCAL = /^[^\s\p{C}()<>[\]:;@\\,"]+$/u
const LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?$/u
const MAX_LABEL = 63
const NAME = /^[^\p{C}<>"\\]*$/u

export interface Mailbox {
  /** Empty when there is only an address. */
  name: string
  address: string
}

/** Returns the address without surrounding white space; null when the text is not exactly one address. */
export function readAddress(text: string): string | null {
  const address = text.trim()
  const at = address.lastIndexOf('@')
  const [local, domain] = [address.slice(0, Math.max(at, 0)), address.slice(at + 1)]
  if (byteLength(address) > MAX_ADDRESS || byteLength(local) > MAX_LOCAL) return null
  return LOCAL.test(local) && !/^\.|\.\.|\.$/.test(local) && isDomain(domain) ? address : null
}

const isDomain = (domain: string): boolean =>
  domain.split('.').every((label) => label.length <= MAX_LABEL && LABEL.test(label))

/** Reads `Shop <hello@shop.example>` or only an address; returns null for other text. */
export function readMailbox(text: string): Mailbox | null {
  const [, name, inBrackets] = /^([^<]*)<([^<>]*)>$/.exec(text.trim()) ?? []
  const address = readAddress(inBrackets ?? text)
  if (address === null) return null
  const unquoted = (name ?? '').trim().replace(/^"(.*)"$/u, '$1')
  return unquoted.length <= MAX_NAME && NAME.test(unquoted) ? { name: unquoted, address } : null
}

const byteLength = (text: string): number => new TextEncoder().encode(text).length
