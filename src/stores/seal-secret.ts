/**
 * Encrypts stored secrets, such as those of destinations and channels, with AES-256-GCM under SECRETS_KEY, which is
 * never stored.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** What to do when there are sealed secrets already: no other key opens them. */
export const SAME_KEY_REMEDY =
  'use the one that Sluice was started with. If it is lost, start Sluice with another one, and set each secret again: destination update ID --secret-file, channel update --secret-file'

const VERSION = 'v1'
const IV_BYTES = 12
const TAG_BYTES = 16

/** SECRETS_KEY is missing, or is not the key with which the secret was sealed. */
export class SealError extends Error {
  override name = 'SealError'
}

/** `owner`: the id of the object that has the secret. The sealed secret cannot be opened for another owner. */
export function sealSecret(secret: object, owner: string, secretsKey: string): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', keyOf(secretsKey), iv).setAAD(Buffer.from(owner))
  const sealed = Buffer.concat([cipher.update(JSON.stringify(secret), 'utf8'), cipher.final(), cipher.getAuthTag()])
  return [VERSION, iv.toString('base64url'), sealed.toString('base64url')].join('.')
}

/** Throws SealError. */
export function openSecret(sealed: string, owner: string, secretsKey: string | undefined): object {
  if (secretsKey === undefined) throw new SealError(`SECRETS_KEY is not set: ${SAME_KEY_REMEDY}`)
  const key = keyOf(secretsKey)
  const [, iv = '', text = ''] = sealed.split('.')
  const bytes = Buffer.from(text, 'base64url')
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'), { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(-TAG_BYTES))
    const opened = Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()])
    return JSON.parse(opened.toString('utf8')) as object
  } catch {
    throw new SealError(`SECRETS_KEY is not the one that the secret was sealed with: ${SAME_KEY_REMEDY}`)
  }
}

const keyOf = (secretsKey: string): Buffer => Buffer.from(secretsKey, 'hex')
