import { formsOf } from '../../rules/messages/number-forms.ts'
import type { ChannelAddress } from '../../rules/messages/suppression.ts'
import { type MessageKey, signWith } from '../message-key.ts'

const BYTES = 16

/** In hex. Two businesses have different hashes for one address. */
export function hashAddress(key: MessageKey, businessId: string, { channel, address }: ChannelAddress): string {
  return signWith(key, 'address', `${businessId}\0${channel}\0${address}`).subarray(0, BYTES).toString('hex')
}

/** Of all forms of the address, its own first: what is stored for one of them holds for all. */
export function hashesOf(key: MessageKey, businessId: string, { channel, address }: ChannelAddress): string[] {
  return formsOf(channel, address).map((form) => hashAddress(key, businessId, { channel, address: form }))
}
