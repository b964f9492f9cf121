/**
 * The token in the link with which a person unsubscribes. It is derived from ids alone, so it needs no row and survives
 * a merge.
 */
import { timingSafeEqual } from 'node:crypto'
import { type MessageKey, signWith } from '../message-key.ts'
import { MESSAGE_CHANNELS, type MessageChannel } from '../templates/template.ts'

/** The recipient and the channel. Both ids are UUIDs in lower case. */
export interface Subscriber {
  businessId: string
  contactId: string
  channel: MessageChannel
  /** Key of the topic of the message. Absent: it had none. */
  topic?: string
}

const ID_BYTES = 16
/** Two ids and the number of the channel. The key of the topic follows. */
const SIGNED_BYTES = 2 * ID_BYTES + 1
const SIGNATURE_BYTES = 18

/** Letters, digits, `-` and `_`. */
export function writeToken(key: MessageKey, { businessId, contactId, channel, topic = '' }: Subscriber): string {
  const place = MESSAGE_CHANNELS.indexOf(channel)
  const signed = Buffer.concat([bytesOf(businessId), bytesOf(contactId), Buffer.from([place]), Buffer.from(topic)])
  return Buffer.concat([signed, sign(key, signed)]).toString('base64url')
}

/** Null for a text that is not one of our tokens. */
export function readToken(key: MessageKey, token: string): Subscriber | null {
  const bytes = Buffer.from(token, 'base64url')
  // Several texts can decode to the same bytes. Only one of them is the token.
  if (bytes.length < SIGNED_BYTES + SIGNATURE_BYTES || bytes.toString('base64url') !== token) return null
  const signed = bytes.subarray(0, -SIGNATURE_BYTES)
  const channel = MESSAGE_CHANNELS[signed[SIGNED_BYTES - 1] ?? -1]
  if (!timingSafeEqual(bytes.subarray(-SIGNATURE_BYTES), sign(key, signed)) || channel === undefined) return null
  const topic = signed.subarray(SIGNED_BYTES).toString()
  return {
    businessId: idOf(signed, 0),
    contactId: idOf(signed, ID_BYTES),
    channel,
    ...(topic !== '' && { topic }),
  }
}

const sign = (key: MessageKey, signed: Buffer): Buffer =>
  signWith(key, 'unsubscribe', signed).subarray(0, SIGNATURE_BYTES)

const bytesOf = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex')

const idOf = (bytes: Buffer, from: number): string =>
  bytes
    .subarray(from, from + ID_BYTES)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
