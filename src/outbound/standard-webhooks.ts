/** Signs requests according to Standard Webhooks, so that the receiver can verify the sender. */
import { createHmac, randomBytes } from 'node:crypto'

export interface SignedContent {
  /** The same for each attempt: receivers recognise a repeat by it. */
  id: string
  /** Epoch ms. Receivers reject a signature that is some minutes old. */
  now: number
  body: string
}

/** A signature by each key, which the receiver may check against any of them. */
export function signatureHeaders(
  { id, now, body }: SignedContent,
  keys: readonly string[],
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const seconds = Math.floor(now / 1000)
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': keys.map((key) => sign(`${id}.${seconds}.${body}`, key)).join(' '),
  }
}

/** `v1,<base64 of the HMAC-SHA256 of "<id>.<seconds>.<body>">` */
function sign(signed: string, key: string): string {
  return `v1,${createHmac('sha256', keyBytes(key)).update(signed).digest('base64')}`
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** The bytes of a key, as the Standard Webhooks libraries read it: base64 after `whsec_`. A key in another form stands for its own bytes. */
export function keyBytes(signingKey: string): Buffer {
  const encoded = signingKey.replace(/^whsec_/, '')
  return BASE64.test(encoded) ? Buffer.from(encoded, 'base64') : Buffer.from(signingKey, 'utf8')
}

/** 256 random bits, in the form of Standard Webhooks. */
export const makeSigningKey = (): string => `whsec_${randomBytes(32).toString('base64')}`
