/**
 * Compares the answers during an overload with the recorded events. Uses one byte per request, so any number of
 * requests fits.
 */
import type { Audit } from '../audit.ts'
import { OUTCOME } from './plan.ts'

/** How often each request's event is recorded, by the number of the request. */
export interface Marks {
  postgres: Uint8Array
  clickhouse: Uint8Array
}

const MOST_COMPLAINTS = 10

/**
 * Does no I/O. A 200 or 202 is recorded once, a refused request never, an unknown one at most once; both stores agree.
 */
export function compareMarks(outcomes: Uint8Array, { postgres, clickhouse }: Marks): Audit {
  const found = { acknowledged: 0, recorded: 0, lost: 0, doubled: 0 }
  const complaints: string[] = []
  for (const [n, outcome] of outcomes.entries()) {
    const times = [postgres[n] ?? 0, clickhouse[n] ?? 0]
    const least = outcome === OUTCOME.answered || outcome === OUTCOME.queued ? 1 : 0
    const most = outcome === OUTCOME.unknown ? 1 : least
    found.acknowledged += least
    found.recorded += Math.min(1, times[0] ?? 0)
    if (times.some((count) => count < least)) found.lost += 1
    if (times.some((count) => count > 1)) found.doubled += 1
    if (times[0] !== times[1] || times.some((count) => count < least || count > most))
      complaints.push(`request ${n} (outcome ${outcome}) is there ${times.join(' and ')} times`)
  }
  const more = complaints.length - MOST_COMPLAINTS
  return {
    ...found,
    complaints: more > 0 ? [...complaints.slice(0, MOST_COMPLAINTS), `… and ${more} more`] : complaints,
  }
}
