/** Determines when requests are due. */
import type { LoadPlan } from './plan.ts'

export interface Pace {
  /** Returns the number of requests that should have been sent after `elapsed` ms. */
  due(elapsed: number): number
  /** Returns when the `n`-th request sent was due, in milliseconds since the start. */
  dueAt(n: number, elapsed: number): number
}

/** An open loop follows only the clock, so that a slow response does not delay later requests. */
export function createPace({ pace, seconds, requests = Infinity, dropLate = false }: LoadPlan): Pace {
  const ms = seconds * 1000
  if (pace.kind === 'closed') {
    return { due: (elapsed) => (elapsed < ms ? requests : 0), dueAt: (_, elapsed) => elapsed }
  }
  const perMs = pace.rate / 1000
  const most = Math.min(requests, Math.ceil(ms * perMs))
  return {
    due: (elapsed) => (dropLate && elapsed >= ms ? 0 : Math.min(most, Math.floor(elapsed * perMs) + 1)),
    dueAt: (n) => n / perMs,
  }
}
