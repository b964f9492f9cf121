/** What the generator of an overload is asked to do, and what it reports. */
import type { Latency } from '../../bench/generator/plan.ts'

export interface OverloadPlan {
  url: string
  /** Secret keys of businesses, taken in turn. */
  keys: string[]
  /** Requests a second, whatever the answers; undefined: each connection sends when it has its answer. */
  rate?: number
  connections: number
  seconds: number
  /** The number of the first request: it is the event's mark. */
  first: number
  /** One byte for each request, in order: what became of it, an `Outcome`. */
  outcomesFile: string
}

/** What became of a request, in one byte. */
export const OUTCOME = {
  /** Every connection was busy for longer than the load lasted. */
  unsent: 0,
  /** 200 */
  answered: 1,
  /** 202 */
  queued: 2,
  /** 503 `unavailable`: nothing was recorded. */
  refused: 3,
  /** 503 `outcome_unknown`, or no answer. */
  unknown: 4,
  /** Any other answer: there should be none. */
  rejected: 5,
} as const
export type Outcome = (typeof OUTCOME)[keyof typeof OUTCOME]

export interface OverloadResult {
  seconds: number
  sent: number
  counts: Record<keyof typeof OUTCOME, number>
  /** 503s without a whole number in Retry-After. */
  withoutRetryAfter: number
  /** From the sending to the answer: of 200s and 202s, and of 503s. */
  accepted: Latency
  refused: Latency
}
