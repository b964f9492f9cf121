/** Signs messages as Amazon SNS does, with a certificate of the test. */
import { execFileSync } from 'node:child_process'
import { sign } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signedText } from '../../../src/messages/callbacks/sns.ts'

export interface SnsSigner {
  /** The certificate. */
  pem: string
  sign<Message extends Record<string, unknown>>(
    message: Message,
    version?: '1' | '2',
    url?: string,
  ): Message & { SignatureVersion: string; Signature: string; SigningCertURL: string }
  close(): void
}

export function openSnsSigner(): SnsSigner {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-sns-'))
  const files = ['-keyout', join(folder, 'key'), '-out', join(folder, 'cert')]
  execFileSync('openssl', ['req', ...'-x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=sns'.split(' '), ...files], {
    stdio: 'ignore',
  })
  const key = readFileSync(join(folder, 'key'), 'utf8')
  let certificates = 0
  /** Each certificate has a URL of its own, because fetched certificates are cached. */
  const certificateUrl = () =>
    `https://sns.us-east-1.amazonaws.com/SimpleNotificationService-${(certificates += 1)}${Date.now()}.pem`
  return {
    pem: readFileSync(join(folder, 'cert'), 'utf8'),
    sign(message, version = '2', url = certificateUrl()) {
      const hash = version === '1' ? 'RSA-SHA1' : 'RSA-SHA256'
      const Signature = sign(hash, Buffer.from(signedText(message) ?? ''), key).toString('base64')
      return { ...message, SignatureVersion: version, Signature, SigningCertURL: url }
    },
    close: () => rmSync(folder, { recursive: true }),
  }
}
