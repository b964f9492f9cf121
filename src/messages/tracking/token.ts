/**
 * The tokens in the tracked URLs of a mail. They contain everything that a redirect needs, so no row is read for it.
 */
import { timingSafeEqual } from 'node:crypto'
import { type MessageKey, signWith } from '../message-key.ts'

/** Both ids are UUIDs in lower case. */
export interface TrackedMessage {
  businessId: string
  messageId: string
}

export interface TrackedLink extends TrackedMessage {
  /** An absolute http or https URL as `new URL` writes it, in ASCII. */
  target: string
}

/**
 * A longer URL is not tracked: together with the rest of the tracked URL, every server and mail program must accept it.
 */
export const MAX_TARGET = 2000

const ID_BYTES = 16
const IDS_BYTES = 2 * ID_BYTES
const SIGNATURE_BYTES = 18

type Purpose = 'click' | 'open'

/** Letters, digits, `-` and `_`. */
export function writeLinkToken(key: MessageKey, link: TrackedLink): string {
  return seal(key, 'click', Buffer.concat([idsOf(link), Buffer.from(link.target)]))
}

/** The token of the image that shows that a mail was opened. */
export const writeOpenToken = (key: MessageKey, message: TrackedMessage): string => seal(key, 'open', idsOf(message))

/** Null for a text that is not one of our tokens. */
export function readLinkToken(key: MessageKey, token: string): TrackedLink | null {
  const signed = unseal(key, 'click', token)
  if (signed === null || signed.length <= IDS_BYTES) return null
  return { ...messageOf(signed), target: signed.toString('utf8', IDS_BYTES) }
}

/** Null for a text that is not one of our tokens. */
export function readOpenToken(key: MessageKey, token: string): TrackedMessage | null {
  const signed = unseal(key, 'open', token)
  return signed?.length === IDS_BYTES ? messageOf(signed) : null
}

const seal = (key: MessageKey, purpose: Purpose, signed: Buffer): string =>
  Buffer.concat([signed, sign(key, purpose, signed)]).toString('base64url')

function unseal(key: MessageKey, purpose: Purpose, token: string): Buffer | null {
  const bytes = Buffer.from(token, 'base64url')
  // Several texts can decode to the same bytes. Only one of them is the token.
  if (bytes.length < IDS_BYTES + SIGNATURE_BYTES || bytes.toString('base64url') !== token) return null
  const signed = bytes.subarray(0, bytes.length - SIGNATURE_BYTES)
  return timingSafeEqual(bytes.subarray(signed.length), sign(key, purpose, signed)) ? signed : null
}

const sign = (key: MessageKey, purpose: Purpose, signed: Buffer): Buffer =>
  signWith(key, purpose, signed).subarray(0, SIGNATURE_BYTES)

const idsOf = ({ businessId, messageId }: TrackedMessage): Buffer =>
  Buffer.from((businessId + messageId).replaceAll('-', ''), 'hex')

const messageOf = (signed: Buffer): TrackedMessage => ({
  businessId: idOf(signed, 0),
  messageId: idOf(signed, ID_BYTES),
})

const idOf = (bytes: Buffer, from: number): string =>
  bytes
    .subarray(from, from + ID_BYTES)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
