/** Identifies the sender of a message to push services: VAPID (RFC 8292). */
import { createECDH } from 'node:crypto'
import { CURVE } from './encrypt.ts'

/** In base64url: a point of 65 bytes, and a number of 32 bytes. */
export interface VapidKeys {
  publicKey: string
  privateKey: string
}

export function makeVapidKeys(): VapidKeys {
  const ecdh = createECDH(CURVE)
  const publicKey = ecdh.generateKeys()
  const privateKey = Buffer.alloc(32)
  // It may lack leading zeros.
  const digits = ecdh.getPrivateKey()
  digits.copy(privateKey, privateKey.length - digits.length)
  return { publicKey: publicKey.toString('base64url'), privateKey: privateKey.toString('base64url') }
}

/** Half of the lifetime that push services allow. */
const VALID_SECONDS = 12 * 3600

/**
 * Returns the header `authorization` of a message to `endpoint`. `subject`: a contact address for the operators of push
 * services. `now`: epoch milliseconds.
 */
export async function vapidHeader(
  { publicKey, privateKey }: VapidKeys,
  { endpoint, subject, now }: { endpoint: string; subject: string; now: number },
): Promise<string> {
  const claims = { aud: new URL(endpoint).origin, exp: Math.floor(now / 1000) + VALID_SECONDS, sub: subject }
  const signed = `${encode(JSON.stringify({ typ: 'JWT', alg: 'ES256' }))}.${encode(JSON.stringify(claims))}`
  const point = Buffer.from(publicKey, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url'))
  const key = await crypto.subtle.importKey(
    'jwk',
    { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '', d: privateKey },
    { name: 'ECDSA', namedCurve: 'P-256' },
    false,
    ['sign'],
  )
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, Buffer.from(signed))
  return `vapid t=${signed}.${Buffer.from(signature).toString('base64url')}, k=${publicKey}`
}

const encode = (text: string): string => Buffer.from(text).toString('base64url')
