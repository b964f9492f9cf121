/**
 * The token in the link with which a person confirms an opt-in. It identifies the address that it was sent to, and
 * needs no row.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { type MessageKey, signWith } from '../message-key.ts'
import { hashAddress } from '../suppressions/hash-address.ts'

/** Both ids are UUIDs in lower case. */
export interface Confirmation {
  businessId: string
  contactId: string
  /** Hash of the email address, in hex. */
  addressHash: string
  /** When the confirmation was requested, in epoch milliseconds. */
  askedAt: number
  /** Hashes of the keys of the topics that are asked for, too: a link must not be too long, whatever their number. */
  topics: readonly string[]
}

const ID_BYTES = 16
const TIME_BYTES = 6
const TOPIC_BYTES = 6
/** The hashes of topics follow. */
const SIGNED_BYTES = 3 * ID_BYTES + TIME_BYTES
const SIGNATURE_BYTES = 18

/** Letters, digits, `-` and `_`. */
export function writeConfirmation(
  key: MessageKey,
  { businessId, contactId, addressHash, askedAt, topics }: Confirmation,
): string {
  const time = Buffer.alloc(TIME_BYTES)
  time.writeUIntBE(askedAt, 0, TIME_BYTES)
  const signed = Buffer.concat([
    bytesOf(businessId),
    bytesOf(contactId),
    bytesOf(addressHash),
    time,
    Buffer.from(topics.join(''), 'hex'),
  ])
  return Buffer.concat([signed, sign(key, signed)]).toString('base64url')
}

/** Returns null for a text that is not one of our tokens. */
export function readConfirmation(key: MessageKey, token: string): Confirmation | null {
  const bytes = Buffer.from(token, 'base64url')
  // Several texts can decode to the same bytes. Only one of them is the token.
  if (bytes.length < SIGNED_BYTES + SIGNATURE_BYTES || bytes.toString('base64url') !== token) return null
  const signed = bytes.subarray(0, -SIGNATURE_BYTES)
  if (!timingSafeEqual(bytes.subarray(-SIGNATURE_BYTES), sign(key, signed))) return null
  const topics = signed.subarray(SIGNED_BYTES).toString('hex')
  return {
    businessId: idOf(signed, 0),
    contactId: idOf(signed, ID_BYTES),
    addressHash: hexOf(signed, 2 * ID_BYTES),
    askedAt: signed.readUIntBE(3 * ID_BYTES, TIME_BYTES),
    topics: topics.match(new RegExp(`.{${2 * TOPIC_BYTES}}`, 'g')) ?? [],
  }
}

/** The hash of a topic's key in tokens, in hex. */
export const hashTopic = (topic: string): string =>
  createHash('sha256')
    .update(topic)
    .digest('hex')
    .slice(0, 2 * TOPIC_BYTES)

/** The hash of an address in tokens. */
export const hashEmail = (key: MessageKey, businessId: string, address: string): string =>
  hashAddress(key, businessId, { channel: 'email', address })

const sign = (key: MessageKey, signed: Buffer): Buffer =>
  signWith(key, 'confirmation', signed).subarray(0, SIGNATURE_BYTES)

const bytesOf = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex')
const hexOf = (bytes: Buffer, from: number): string => bytes.subarray(from, from + ID_BYTES).toString('hex')
const idOf = (bytes: Buffer, from: number): string =>
  hexOf(bytes, from).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
