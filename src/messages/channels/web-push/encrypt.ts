/**
 * Encrypts messages to browsers (RFC 8291), in one record of the content coding aes128gcm (RFC 8188). The standard has
 * a test vector, and `node:crypto` supports all parts on every runtime.
 */
import { createCipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'

/**
 * Keys of a subscription, in base64url: the public key of the browser (65 bytes), and the secret that it shares with us
 * (16 bytes).
 */
export interface BrowserKeys {
  p256dh: string
  auth: string
}

/** Values that are generated for each message. */
interface OneTime {
  salt: Buffer
  privateKey: Buffer
}

export const CURVE = 'prime256v1'
/** Push services accept no larger body. */
const RECORD_BYTES = 4096
const HEADER_BYTES = 86
const TAG_BYTES = 16
const LAST_RECORD = Buffer.from([2])
/** Maximum size of the content of one message. */
export const MAX_PLAINTEXT_BYTES = RECORD_BYTES - HEADER_BYTES - TAG_BYTES - LAST_RECORD.length

/** Returns the body of a push message. Only tests pass `oneTime`. Throws for keys that `isBrowserKey` rejects. */
export function encryptPush(plaintext: Buffer, { p256dh, auth }: BrowserKeys, oneTime?: OneTime): Buffer {
  const own = createECDH(CURVE)
  if (oneTime === undefined) own.generateKeys()
  else own.setPrivateKey(oneTime.privateKey)
  const salt = oneTime?.salt ?? randomBytes(16)
  const ownPublic = own.getPublicKey()
  const browserPublic = Buffer.from(p256dh, 'base64url')
  const shared = own.computeSecret(browserPublic)
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), browserPublic, ownPublic])
  const keyMaterial = derive(shared, Buffer.from(auth, 'base64url'), info, 32)
  const key = derive(keyMaterial, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
  const nonce = derive(keyMaterial, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  const encrypted = [cipher.update(plaintext), cipher.update(LAST_RECORD), cipher.final()]
  return Buffer.concat([headerOf(salt, ownPublic), ...encrypted, cipher.getAuthTag()])
}

const derive = (material: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', material, salt, info, bytes))

function headerOf(salt: Buffer, ownPublic: Buffer): Buffer {
  const sizes = Buffer.alloc(5)
  sizes.writeUInt32BE(RECORD_BYTES)
  sizes.writeUInt8(ownPublic.length, 4)
  return Buffer.concat([salt, sizes, ownPublic])
}

/** Returns whether a public key in base64url is a point of the curve. */
export function isBrowserKey(p256dh: string): boolean {
  const probe = createECDH(CURVE)
  probe.generateKeys()
  try {
    probe.computeSecret(Buffer.from(p256dh, 'base64url'))
    return true
  } catch {
    return false
  }
}
