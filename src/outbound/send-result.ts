import { backoffMs } from '../async/backoff.ts'

/** Types that all senders share: a request to an external service, its result, and the outcome to record. */

/** One HTTP request. */
export interface OutgoingRequest {
  url: string
  headers: Record<string, string>
  body: string
}

/** The result of an attempt. Reasons contain no personal data and no secret. */
export type SendResult =
  | { kind: 'sent' }
  /**
   * `afterMs`: wait at least this long. `holdsDestination`: send nothing else to the destination until then. `unsent`:
   * nothing was sent, so the attempt does not count, and the item waits only while its destination is held.
   */
  | { kind: 'retry'; reason: string; afterMs?: number; holdsDestination?: boolean; unsent?: boolean }
  | { kind: 'dead'; reason: string }

/** 1, 3, 9, 27 … minutes, at most twelve hours: ten tries take one to two days. */
const RETRY_BACKOFF = { firstMs: 60_000, maxMs: 12 * 3_600_000, factor: 3 }

export interface Outcome {
  /** A `retry` waits for its next attempt. */
  kind: SendResult['kind']
  /** Milliseconds until the next attempt. */
  delayMs: number
  reason: string | null
  /** Milliseconds for which nothing is sent to the destination; null when it is not held. */
  holdMs: number | null
  /** Whether this counts as an attempt. */
  isAttempt: boolean
}

/** Decides the outcome of attempt number `attempts`. The last of `tries` is final, unless nothing was sent. */
export function decideOutcome(result: SendResult, attempts: number, tries: number): Outcome {
  if (result.kind !== 'retry') {
    const reason = result.kind === 'sent' ? null : result.reason
    return { kind: result.kind, delayMs: 0, reason, holdMs: null, isAttempt: true }
  }
  const isAttempt = result.unsent !== true
  return {
    kind: isAttempt && attempts >= tries ? 'dead' : 'retry',
    delayMs: isAttempt ? Math.round(Math.max(result.afterMs ?? 0, backoffMs(attempts, RETRY_BACKOFF))) : 0,
    reason: result.reason,
    holdMs: result.holdsDestination ? Math.round(result.afterMs ?? 0) : null,
    isAttempt,
  }
}
