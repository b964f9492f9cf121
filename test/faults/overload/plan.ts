/** Input and result of the generator of an overload. */
import type { Latency } from '../../bench/generator/plan.ts'

export interface OverloadPlan {
  url: string
  /** Secret keys of businesses, used in rotation. */
  keys: string[]
  /** Requests per second, regardless of answers. Default: each connection sends when it has its answer. */
  rate?: number
  connections: number
  seconds: number
  /** Number of the first request, which is also the event's mark. */
  first: number
  /** File with one byte per request, in order: its `Outcome`. */
  outcomesFile: string
}

/** The outcome of a request, in one byte. */
export const OUTCOME = {
  /** Not sent: every connection was busy until the end of the load. */
  unsent: 0,
  /** 200 */
  answered: 1,
  /** 202 */
  queued: 2,
  /** 503 `unavailable`: nothing was recorded. */
  refused: 3,
  /** 503 `outcome_unknown`, or no answer. */
  unknown: 4,
  /** Any other answer, which should not occur. */
  rejected: 5,
} as const
export type Outcome = (typeof OUTCOME)[keyof typeof OUTCOME]

export interface OverloadResult {
  seconds: number
  sent: number
  counts: Record<keyof typeof OUTCOME, number>
  /** Number of 503s without a whole number in Retry-After. */
  withoutRetryAfter: number
  /** Latency from sending to the answer: of 200s and 202s, and of 503s. */
  accepted: Latency
  refused: Latency
}
