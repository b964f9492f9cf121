/** How long to wait before the next try: one formula for everything that is tried again. */

export interface Backoff {
  /** Before the second try, in ms. */
  firstMs: number
  maxMs: number
  /** By which the wait grows with each failure; 2 when left out. */
  factor?: number
}

/** `failures`: how many in a row so far, 1 at least. Half of the wait is random, so that what failed together does not return together. */
export function backoffMs(failures: number, { firstMs, maxMs, factor = 2 }: Backoff): number {
  const longest = Math.min(maxMs, firstMs * factor ** Math.max(0, failures - 1))
  return longest / 2 + (Math.random() * longest) / 2
}
