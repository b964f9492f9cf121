import { createHash } from 'node:crypto'

/** Returns the SHA-256 in lower-case hex, the form in which platforms accept personal identifiers. */
export function hashIdentifier(normalised: string): string {
  return createHash('sha256').update(normalised).digest('hex')
}
