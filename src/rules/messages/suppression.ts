/** Suppressed addresses: channels, reasons, and the form in which addresses are compared. */
import { readIdentity } from '../identity/identity.ts'
import { readPhone } from '../identity/read-phone.ts'
import { formsOf } from './number-forms.ts'

/** The channels that send to an address of a contact. */
export const ADDRESS_CHANNELS = ['email', 'sms', 'whatsapp'] as const
export type AddressChannel = (typeof ADDRESS_CHANNELS)[number]

/** `stop`: the person sent STOP. Only START lifts it. */
export const SUPPRESSION_REASONS = ['hard_bounce', 'complaint', 'stop', 'manual'] as const
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]

/** An address in the form that contacts have: an email in lower case, or the E.164 digits of a phone. */
export interface ChannelAddress {
  channel: AddressChannel
  address: string
}

/**
 * Returns null for a text that cannot be an address of the channel. `country` is that of the business, for national
 * phone numbers.
 */
export function readChannelAddress(
  channel: AddressChannel,
  text: string,
  country: string | null,
): ChannelAddress | null {
  const { identity } = readIdentity(channel === 'email' ? { email: text } : { phone: text }, country)
  if (channel === 'email') return identity?.email === undefined ? null : { channel, address: identity.email }
  const { phone = '', phoneRead = false } = identity ?? {}
  // A form that WhatsApp uses may be no number that can be called: then it means the one that can be.
  const number = phoneRead ? phone : formsOf(channel, phone).find((form) => readPhone(`+${form}`, null)?.read === true)
  return number === undefined ? null : { channel, address: number }
}
