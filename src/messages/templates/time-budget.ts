/**
 * How much time the slow templates of each business have taken. A business whose templates are quick never uses any of
 * it, however many messages it sends: each waits its turn, and others wait for none of them noticeably.
 */

/** A job that takes less is not counted. Milliseconds, as are the others. */
export const LONG_MS = 50
/** What a business may take with longer ones, and what comes back to it in a minute. */
export const BUDGET_MS = 1000
const MINUTE_MS = 60_000
/** More is forgotten, so that a business has its budget again after ten minutes. */
const MAX_SPENT_MS = 10 * BUDGET_MS
/** Beyond this number, those who have spent nothing lately are forgotten. */
const MAX_KEPT = 1000

export interface TimeBudget {
  /** `ms`: how long a job has taken. */
  charge(businessId: string, ms: number, now: number): void
  isSpent(businessId: string, now: number): boolean
}

export function createTimeBudget(): TimeBudget {
  const spent = new Map<string, { ms: number; at: number }>()
  const left = (businessId: string, now: number): number => {
    const { ms, at } = spent.get(businessId) ?? { ms: 0, at: now }
    return Math.max(0, ms - ((now - at) * BUDGET_MS) / MINUTE_MS)
  }
  return {
    charge(businessId, ms, now) {
      if (ms < LONG_MS) return
      spent.set(businessId, { ms: Math.min(MAX_SPENT_MS, left(businessId, now) + ms), at: now })
      if (spent.size > MAX_KEPT) for (const id of spent.keys()) if (left(id, now) === 0) spent.delete(id)
    },
    isSpent: (businessId, now) => left(businessId, now) >= BUDGET_MS,
  }
}
