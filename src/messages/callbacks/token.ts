/** The token in the URL of a provider's callbacks. It is derived from ids alone, so it needs no row. */
import { timingSafeEqual } from 'node:crypto'
import type { Config } from '../../config.ts'
import type { ChannelKey } from '../channels/channels.ts'
import { type MessageKey, signWith } from '../message-key.ts'
import { publicAddress } from '../public-links.ts'

const ID_BYTES = 16
const SIGNATURE_BYTES = 18

/** For one provider of one channel of a business. */
export interface CallbackPlace extends ChannelKey {
  provider: string
}

function writeToken(key: MessageKey, place: CallbackPlace): string {
  const id = Buffer.from(place.businessId.replaceAll('-', ''), 'hex')
  return Buffer.concat([id, sign(key, place)]).toString('base64url')
}

/** Returns the business; null for any text other than our token for this channel and provider. */
export function readCallbackToken(
  key: MessageKey,
  place: Omit<CallbackPlace, 'businessId'>,
  token: string,
): string | null {
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.length !== ID_BYTES + SIGNATURE_BYTES || bytes.toString('base64url') !== token) return null
  const hex = bytes.subarray(0, ID_BYTES).toString('hex')
  const businessId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  return timingSafeEqual(bytes.subarray(ID_BYTES), sign(key, { ...place, businessId })) ? businessId : null
}

const sign = (key: MessageKey, { businessId, channel, provider }: CallbackPlace): Buffer =>
  signWith(key, 'callback', `${businessId}\0${channel}\0${provider}`).subarray(0, SIGNATURE_BYTES)

/** Returns the path of callbacks, which begins with `/`. */
export const callbackPath = (key: MessageKey, place: CallbackPlace): string =>
  `/api/hooks/${place.channel}/${place.provider}/${writeToken(key, place)}`

/** Returns the URL for the provider's reports. Without PUBLIC_URL, only this machine can reach it. */
export const callbackUrl = (
  config: Pick<Config, 'publicUrl' | 'port'>,
  key: MessageKey,
  place: CallbackPlace,
): string => `${publicAddress(config)}${callbackPath(key, place)}`
