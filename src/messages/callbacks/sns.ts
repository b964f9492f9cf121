/** Verifies messages of Amazon SNS (https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html). */
import { X509Certificate, verify } from 'node:crypto'
import type { CallbackDeps } from './callbacks.ts'
import { textAt } from './read-json.ts'

/** A URL of Amazon SNS itself: certificates from elsewhere do not count, and other URLs are not opened. */
export function isAmazonAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol !== 'https:' || url.port !== '' || url.username !== '' || url.password !== '') return false
  return /^sns\.[a-z]{2}(-[a-z]{2,16}){1,3}-\d{1,2}\.amazonaws\.com(\.cn)?$/.test(url.hostname)
}

const SIGNED: Record<string, readonly string[]> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
}
const HASHES: Record<string, string> = { '1': 'RSA-SHA1', '2': 'RSA-SHA256' }

/** The signed fields, each with its name; null for a message of another type. */
export function signedText(message: unknown): string | null {
  const type = textAt(message, 'Type') ?? ''
  const names = Object.hasOwn(SIGNED, type) ? (SIGNED[type] ?? []) : []
  const lines = names.flatMap((name) => {
    const value = textAt(message, name)
    return value === null ? [] : [`${name}\n${value}\n`]
  })
  return lines.length === 0 ? null : lines.join('')
}

const MAX_KEPT = 20
const certificates = new Map<string, string>()

/** Rejects when the certificate cannot be fetched. */
export async function isFromSns(message: unknown, { fetchText }: CallbackDeps, now: number): Promise<boolean> {
  const [address, signature] = [textAt(message, 'SigningCertURL'), textAt(message, 'Signature')]
  const hash = HASHES[textAt(message, 'SignatureVersion') ?? '']
  const signed = signedText(message)
  if (address === null || signature === null || hash === undefined || signed === null) return false
  if (!isAmazonAddress(address) || !new URL(address).pathname.endsWith('.pem')) return false
  const pem = certificates.get(address) ?? (await fetchText(address))
  const certificate = readCertificate(pem)
  if (certificate === null || now > Date.parse(certificate.validTo)) return false
  // The oldest certificate makes room.
  if (certificates.size >= MAX_KEPT) certificates.delete([...certificates.keys()][0] ?? '')
  certificates.set(address, pem)
  return verify(hash, Buffer.from(signed), certificate.publicKey, Buffer.from(signature, 'base64'))
}

function readCertificate(pem: string): X509Certificate | null {
  try {
    return new X509Certificate(pem)
  } catch {
    return null
  }
}
