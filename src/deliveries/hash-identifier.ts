import { createHash } from 'node:crypto'

/** The sha256 in lower-case hex: how platforms take what would name a person. */
export function hashIdentifier(normalised: string): string {
  return createHash('sha256').update(normalised).digest('hex')
}
