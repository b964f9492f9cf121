/** When requests are due. */
import type { LoadPlan } from './plan.ts'

export interface Pace {
  /** The number of requests that should have been sent after `elapsed` ms. */
  due(elapsed: number): number
  /** When the request that was sent as number `n` was due, in ms since the start. */
  dueAt(n: number, elapsed: number): number
}

/** Open: by the clock alone, so that a slow answer does not delay the requests behind it. */
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
