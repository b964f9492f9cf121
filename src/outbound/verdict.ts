import { backoffMs } from '../async/backoff.ts'

/** What every sender speaks: a request to a service outside, what became of it, and what follows from that. */

/** One HTTP request. */
export interface Outgoing {
  url: string
  headers: Record<string, string>
  body: string
}

/** The result of an attempt. Reasons hold no personal data and no secret. */
export type Verdict =
  | { kind: 'sent' }
  /**
   * `afterMs`: not before; `holds`: nothing else is sent to the destination until then either; `unsent`: it never left, so
   * it is no attempt, and waits for its destination alone.
   */
  | { kind: 'retry'; reason: string; afterMs?: number; holds?: boolean; unsent?: boolean }
  | { kind: 'dead'; reason: string }

/** 1, 3, 9, 27 … minutes, twelve hours at most: ten tries last for a day or two. */
const AGAIN = { firstMs: 60_000, maxMs: 12 * 3_600_000, factor: 3 }

export interface Outcome {
  /** `retry` waits for its next attempt. */
  kind: Verdict['kind']
  /** Until its next attempt. */
  delayMs: number
  reason: string | null
  /** For how long nothing is sent to the destination; null when it is not held. */
  holdMs: number | null
  /** Whether the attempt counts. */
  isAttempt: boolean
}

/** What to record of attempt number `attempts`, the last one of `tries` being final unless nothing was sent. */
export function outcomeOf(verdict: Verdict, attempts: number, tries: number): Outcome {
  if (verdict.kind !== 'retry') {
    const reason = verdict.kind === 'sent' ? null : verdict.reason
    return { kind: verdict.kind, delayMs: 0, reason, holdMs: null, isAttempt: true }
  }
  const isAttempt = verdict.unsent !== true
  return {
    kind: isAttempt && attempts >= tries ? 'dead' : 'retry',
    delayMs: isAttempt ? Math.round(Math.max(verdict.afterMs ?? 0, backoffMs(attempts, AGAIN))) : 0,
    reason: verdict.reason,
    holdMs: verdict.holds ? Math.round(verdict.afterMs ?? 0) : null,
    isAttempt,
  }
}
