/** Decides from measurements whether a store answers too late. */

export const STORES = ['redis', 'postgres', 'clickhouse'] as const
export type StoreName = (typeof STORES)[number]

interface LatenessLimits {
  /** Above this, an answer is late. */
  lateMs: number
  /** Up to this, it is in time. Between the two nothing changes. */
  inTimeMs: number
}

/** For a statement that does nothing. It usually takes a millisecond or two. Documented in docs/operations.md. */
export const LATENESS_LIMITS: Readonly<Record<StoreName, LatenessLimits>> = {
  redis: { lateMs: 250, inTimeMs: 100 },
  postgres: { lateMs: 500, inTimeMs: 200 },
  clickhouse: { lateMs: 500, inTimeMs: 200 },
}

/** Number of measurements in a row that change the verdict: a single pause says nothing. */
export const IN_A_ROW = 3

/** Without an answer for longer than this, a store is late at once: sooner than a chart gives up, so that it can say so. */
export const NO_ANSWER_MS = 7_000

export interface Lateness {
  /** Time of the first late answer of those that made the store late; null when it answers in time. */
  since: number | null
  /** The measurements in a row that speak for a change. */
  streak: number
  /** Time of the first of them. */
  streakSince: number
}

export const IN_TIME: Lateness = { since: null, streak: 0, streakSince: 0 }

/** `ms`: how long an answer took, at the time `at`. Null when the store cannot be reached, which is another trouble. */
export function judgeLateness(before: Lateness, ms: number | null, at: number, limits: LatenessLimits): Lateness {
  if (ms === null) return IN_TIME
  const speaksForChange = before.since === null ? ms > limits.lateMs : ms <= limits.inTimeMs
  if (!speaksForChange) return { ...before, streak: 0 }
  const streak = before.streak + 1
  const streakSince = before.streak === 0 ? at : before.streakSince
  const isDecided = streak >= IN_A_ROW || (before.since === null && ms > NO_ANSWER_MS)
  if (!isDecided) return { ...before, streak, streakSince }
  return before.since === null ? { since: streakSince, streak: 0, streakSince } : IN_TIME
}
