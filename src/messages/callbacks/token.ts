/** The token in the URL of a provider's callbacks. It is derived from ids alone, so it needs no row. */
import { timingSafeEqual } from 'node:crypto'
import type { Config } from '../../config.ts'
import { DEFAULT_SENDER, type SenderKey } from '../channels/channels.ts'
import { type MessageKey, signWith } from '../message-key.ts'
import { publicAddress } from '../public-links.ts'

const ID_BYTES = 16
const SIGNATURE_BYTES = 18
const HEAD_BYTES = ID_BYTES + SIGNATURE_BYTES

/** For one provider of one sender of a business. */
export interface CallbackPlace extends SenderKey {
  provider: string
}

function writeToken(key: MessageKey, place: CallbackPlace): string {
  const id = Buffer.from(place.businessId.replaceAll('-', ''), 'hex')
  return Buffer.concat([id, sign(key, place), Buffer.from(shownKey(place))]).toString('base64url')
}

/** The sender `default` goes without saying, as channels had one sender once. */
const shownKey = ({ sender }: Pick<CallbackPlace, 'sender'>): string => (sender === DEFAULT_SENDER ? '' : sender)

/** Returns the business and the sender; null for any text other than our token for this channel and provider. */
export function readCallbackToken(
  key: MessageKey,
  place: Omit<CallbackPlace, 'businessId' | 'sender'>,
  token: string,
): Pick<CallbackPlace, 'businessId' | 'sender'> | null {
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.length < HEAD_BYTES || bytes.toString('base64url') !== token) return null
  const hex = bytes.subarray(0, ID_BYTES).toString('hex')
  const businessId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  const sender = bytes.subarray(HEAD_BYTES).toString() || DEFAULT_SENDER
  const signature = sign(key, { ...place, businessId, sender })
  // With `default` spelt out it would be another text for the same place.
  const isOurs = timingSafeEqual(bytes.subarray(ID_BYTES, HEAD_BYTES), signature)
  return isOurs && writeToken(key, { ...place, businessId, sender }) === token ? { businessId, sender } : null
}

function sign(key: MessageKey, { businessId, channel, provider, sender }: CallbackPlace): Buffer {
  const parts = [businessId, channel, provider, ...(sender === DEFAULT_SENDER ? [] : [sender])]
  return signWith(key, 'callback', parts.join('\0')).subarray(0, SIGNATURE_BYTES)
}

/** Returns the path of callbacks, which begins with `/`. */
export const callbackPath = (key: MessageKey, place: CallbackPlace): string =>
  `/api/hooks/${place.channel}/${place.provider}/${writeToken(key, place)}`

/** Returns the URL for the provider's reports. Without PUBLIC_URL, only this machine can reach it. */
export const callbackUrl = (
  config: Pick<Config, 'publicUrl' | 'port'>,
  key: MessageKey,
  place: CallbackPlace,
): string => `${publicAddress(config)}${callbackPath(key, place)}`
