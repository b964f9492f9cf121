/** Computes the delay before a retry, with one formula for all retries. */

export interface Backoff {
  /** Milliseconds before the second attempt. */
  firstMs: number
  maxMs: number
  /** Factor by which the delay grows with each failure. Default: 2. */
  factor?: number
}

/**
 * `failures`: number of consecutive failures, at least 1. Half of the delay is random, so that callers that failed
 * together do not retry together.
 */
export function backoffMs(failures: number, { firstMs, maxMs, factor = 2 }: Backoff): number {
  const longest = Math.min(maxMs, firstMs * factor ** (failures - 1))
  return longest / 2 + (Math.random() * longest) / 2
}
