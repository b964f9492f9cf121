import { timingSafeEqual } from 'node:crypto'

/** Compares in a time that does not depend on the length of the equal part. */
export function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
