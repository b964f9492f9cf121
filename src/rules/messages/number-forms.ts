/** The forms in which a channel writes one phone number. */
import type { MessageChannel } from './message-channel.ts'

/**
 * WhatsApp's id of a person can differ from the number that messages go to, in countries that have changed their
 * numbers: it keeps the 1 of Mexico, lacks the ninth digit of most numbers of Brazil, and has the 9 of Argentina.
 */
const FORMS: readonly { long: RegExp; short: RegExp; added: string }[] = [
  { long: /^(52)1(\d{10})$/, short: /^(52)(\d{10})$/, added: '1' },
  { long: /^(55\d{2})9(\d{8})$/, short: /^(55\d{2})(\d{8})$/, added: '9' },
  { long: /^(54)9(\d{10})$/, short: /^(54)(\d{10})$/, added: '9' },
]

/** The digits of an address, or of an id of WhatsApp. Null for any other text. */
export const readWhatsappId = (text: string): string | null => /^\+?(\d{5,20})$/.exec(text)?.[1] ?? null

/** Returns all forms of an address, itself first. `address`: as in ChannelAddress. */
export function formsOf(channel: MessageChannel, address: string): string[] {
  if (channel !== 'whatsapp') return [address]
  const others = FORMS.flatMap(({ long, short, added }) => {
    if (long.test(address)) return [address.replace(long, '$1$2')]
    return short.test(address) ? [address.replace(short, (_, start: string, rest: string) => start + added + rest)] : []
  })
  return [address, ...others]
}
