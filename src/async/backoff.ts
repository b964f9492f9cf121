/** Computes the wait before a retry: one formula for all retries. */

export interface Backoff {
  /** Before the second try, in ms. */
  firstMs: number
  maxMs: number
  /** The factor by which the wait grows with each failure; 2 by default. */
  factor?: number
}

/** `failures` counts the failures in a row, at least 1. Half of the wait is random, so that callers that failed together do not retry together. */
export function backoffMs(failures: number, { firstMs, maxMs, factor = 2 }: Backoff): number {
  const longest = Math.min(maxMs, firstMs * factor ** (failures - 1))
  return longest / 2 + (Math.random() * longest) / 2
}
