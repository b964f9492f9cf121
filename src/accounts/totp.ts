/** Codes of the second factor: RFC 6238 with SHA-1, 30 seconds and 6 digits, as every authenticator app expects. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const STEP_MS = 30_000
const DIGITS = 6
/** Clocks differ, so the previous and the next code count, too. */
const DRIFT_STEPS = [0, -1, 1]
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const SECRET_BYTES = 20

/** Creates a secret in base 32, as people type it into an app. */
export function createTotpSecret(): string {
  const bits = [...randomBytes(SECRET_BYTES)].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return bits.replaceAll(/.{5}/g, (five) => BASE32[Number.parseInt(five, 2)] ?? '')
}

/** Returns the time step that the code belongs to, or null. `now`: epoch ms. */
export function matchTotp(secret: string, code: string, now: number): number | null {
  const current = Math.floor(now / STEP_MS)
  const found = DRIFT_STEPS.find((drift) => isEqual(totpCode(secret, current + drift), code))
  return found === undefined ? null : current + found
}

export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 15
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS).padStart(DIGITS, '0')
}

/** Returns the URI for the QR code that apps scan. */
export function totpUri(secret: string, email: string): string {
  const query = new URLSearchParams({ secret, issuer: 'Sluice' })
  return `otpauth://totp/${encodeURIComponent(`Sluice:${email}`)}?${query.toString()}`
}

function fromBase32(text: string): Buffer {
  const bits = text.replaceAll(/./g, (char) => BASE32.indexOf(char).toString(2).padStart(5, '0'))
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

const isEqual = (expected: string, sent: string): boolean =>
  /^\d{6}$/.test(sent) && timingSafeEqual(Buffer.from(expected), Buffer.from(sent))
