/** The address of a sender. Providers have it in settings of different names. */
import { type Mailbox, readMailbox } from '../../rules/messages/mailbox.ts'
import type { MessageChannel } from '../../rules/messages/message-channel.ts'
import type { StoredChannel } from './channels.ts'

/** The setting with the address, by channel. Other channels have none. */
const FROM_SETTINGS: Partial<Record<MessageChannel, string>> = {
  email: 'sender',
  sms: 'from',
  whatsapp: 'phoneNumberId',
}

export const fromSetting = (channel: MessageChannel): string | undefined => FROM_SETTINGS[channel]

/** As it is stored: `Shop <hello@shop.example>`, or a phone number. Null: there is none. */
export function fromOf({ channel, settings }: Pick<StoredChannel, 'channel' | 'settings'>): string | null {
  const value = settings[fromSetting(channel) ?? '']
  return typeof value === 'string' ? value : null
}

/** As callers see it. */
export interface SenderAddress {
  address: string
  name?: string
}

/** `text`: see `fromOf`. */
export function readFrom(channel: MessageChannel, text: string | null): SenderAddress | null {
  if (text === null) return null
  if (channel !== 'email') return { address: text }
  const { name, address }: Mailbox = readMailbox(text) ?? { name: '', address: text }
  return { address, ...(name !== '' && { name }) }
}
