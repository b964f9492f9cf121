/** Secrets of destinations at rest: AES-256-GCM under SECRETS_KEY, which is never stored. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const VERSION = 'v1'
const IV_BYTES = 12
const TAG_BYTES = 16

/** SECRETS_KEY is missing, or another one than it was sealed with. */
export class SealError extends Error {
  override name = 'SealError'
}

/** `owner` is the id of the destination: moved to another, it cannot be opened. Throws SealError. */
export function sealSecret(secret: object, owner: string, secretsKey: string | undefined): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', keyOf(secretsKey), iv).setAAD(Buffer.from(owner))
  const sealed = Buffer.concat([cipher.update(JSON.stringify(secret), 'utf8'), cipher.final(), cipher.getAuthTag()])
  return [VERSION, iv.toString('base64url'), sealed.toString('base64url')].join('.')
}

/** Throws SealError. */
export function openSecret(sealed: string, owner: string, secretsKey: string | undefined): object {
  const key = keyOf(secretsKey)
  const [, iv = '', text = ''] = sealed.split('.')
  const bytes = Buffer.from(text, 'base64url')
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'), { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(-TAG_BYTES))
    const opened = Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()])
    return JSON.parse(opened.toString('utf8')) as object
  } catch {
    throw new SealError('SECRETS_KEY is another one than the secret was sealed with')
  }
}

const UNSET =
  'SECRETS_KEY is not set: make one with `openssl rand -hex 32`, and start Sluice and run this with the same one'

function keyOf(secretsKey: string | undefined): Buffer {
  if (secretsKey === undefined) throw new SealError(UNSET)
  return Buffer.from(secretsKey, 'hex')
}
