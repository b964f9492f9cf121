import { timingSafeEqual } from 'node:crypto'

/** In a time that does not depend on how much of them is the same. */
export function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
