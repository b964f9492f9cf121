/**
 * Addresses as lists bring them along: alone, in quotes or angle brackets, or as one cell of an exported line. An email
 * address is read as strictly as when a mail is sent: what could never be mailed would be suppressed for nothing.
 */
import { readAddress } from './mailbox.ts'
import { ADDRESS_CHANNELS, type AddressChannel, type ChannelAddress, readChannelAddress } from './suppression.ts'

/**
 * Returns the address of the channel that the text contains; for a number without a country, all that it can mean. Empty
 * when it contains none, or several. `country`: that of the business.
 */
export function readListed(channel: AddressChannel, text: string, country: string | null): ChannelAddress[] {
  const found = channel === 'email' ? findEmails(text) : findPhones(channel, text, country)
  const [first, ...others] = new Map(found.map((addresses) => [keyOf(addresses), addresses])).values()
  return first === undefined || others.length > 0 ? [] : first
}

/**
 * Without a channel, a text with an @ is an email address; any other text is a phone number for both other channels.
 */
export function findAddresses(text: string, channel: AddressChannel | null, country: string | null): ChannelAddress[] {
  const isEmail = text.includes('@')
  const channels = channel === null ? ADDRESS_CHANNELS.filter((one) => (one === 'email') === isEmail) : [channel]
  return channels.flatMap((one) => readListed(one, text, country))
}

/** Whether the first line of a list names its columns (`Email Address`). It has no `@` and no digit, so no address. */
export const isHeader = (line: string): boolean => /\p{L}/u.test(line) && !/[@＠\p{N}]/u.test(line)

const keyOf = (addresses: readonly ChannelAddress[]): string => addresses.map(({ address }) => address).join(' ')

const SCHEME = /^(mailto|tel|sms|whatsapp|smtp):(\/\/)?/i

function findEmails(text: string): ChannelAddress[][] {
  const words = text.split(/[\s,;|"<>()[\]{}]+/).filter((word) => word.includes('@'))
  return words.flatMap((word) => {
    const bare = word
      .replace(/^'(.*)'$/, '$1')
      .replace(SCHEME, '')
      .replace(/\?.*$/, '')
    const address = readAddress(bare) === null ? null : readChannelAddress('email', bare, null)
    return address === null ? [] : [[address]]
  })
}

const PHONE = /^\+?[\d\s()./-]{7,30}$/
const DATE = /^(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3(\d{4}|\d{2}))(\D|$)/

/** Starts with `+`, `00` or a national `0`; `0.1234567` is a rate. */
const PREFIXED = /^[\s(]*(\+|00?[\s()-]*[1-9])/

/** Digits beside other cells may also be an ID or an instant in seconds, and would be the number of a stranger. */
const isClearlyPhone = (cell: string): boolean => PHONE.test(cell) && PREFIXED.test(cell) && !DATE.test(cell)

function findPhones(channel: AddressChannel, text: string, country: string | null): ChannelAddress[][] {
  const cells = text
    .split(/[,;|\t"<>]+/)
    .map((cell) => cell.trim().replace(/^'/, '').replace(SCHEME, ''))
    .filter((cell) => cell !== '')
  const some = cells.length > 1 ? cells.filter(isClearlyPhone) : cells
  const full = some.filter((cell) => cell.startsWith('+'))
  return (full.length > 0 ? full : some).flatMap((cell) => {
    const addresses = readNumber(channel, cell, country)
    return addresses.length > 0 ? [addresses] : []
  })
}

/** An id of WhatsApp has no `+`, and may be read as a number of the business's country. Both are meant. */
const WHATSAPP_ID = /^[1-9]\d{9,14}$/

function readNumber(channel: AddressChannel, cell: string, country: string | null): ChannelAddress[] {
  const forms = channel === 'whatsapp' && WHATSAPP_ID.test(cell) ? [cell, `+${cell}`] : [cell]
  const read = forms.flatMap((form) => readChannelAddress(channel, form, country) ?? [])
  return read.filter(({ address }, place) => read.findIndex((other) => other.address === address) === place)
}
