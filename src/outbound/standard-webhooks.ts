/** Signs requests as Standard Webhooks specifies, so that the receiver can verify the sender. */
import { createHmac, randomBytes } from 'node:crypto'

export interface SignedContent {
  /** The same for every attempt, so that receivers can recognise a repeat. */
  id: string
  /** Epoch milliseconds. Receivers reject signatures that are a few minutes old. */
  now: number
  body: string
}

/** Returns one signature per key. The receiver may check any of them. */
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

/**
 * Decodes a key as the Standard Webhooks libraries do: base64 after `whsec_`. A key in any other form is used as UTF-8
 * bytes.
 */
export function keyBytes(signingKey: string): Buffer {
  const encoded = signingKey.replace(/^whsec_/, '')
  return BASE64.test(encoded) ? Buffer.from(encoded, 'base64') : Buffer.from(signingKey, 'utf8')
}

/** Makes a key of 256 random bits, in the format of Standard Webhooks. */
export const makeSigningKey = (): string => `whsec_${randomBytes(32).toString('base64')}`
