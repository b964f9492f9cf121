/** Caches the number of contacts for some seconds, if counting them is expensive. */
import { createTtlCache } from '../../async/ttl-cache.ts'
import type { Sql } from '../../stores/postgres.ts'
import { type ContactCount, type ContactFilter, countContacts } from './list-contacts.ts'

export const COUNT_KEPT_MS = 10_000

export type RememberedCount = (sql: Sql, businessId: string, filter: ContactFilter) => Promise<ContactCount>

/**
 * Counting many contacts takes tens of milliseconds, and the number is not exact, so it is cached for some seconds.
 * Exact counts are not cached. Concurrent callers share one count. `now`: a monotonic clock in milliseconds.
 */
export function createRememberedCount(now?: () => number): RememberedCount {
  const isKept = ({ kind }: ContactCount) => kind !== 'exact'
  const counts = createTtlCache<ContactCount>({ ms: COUNT_KEPT_MS, max: 500, isKept }, now)
  return (sql, businessId, filter) =>
    counts(JSON.stringify([businessId, filter]), () => countContacts(sql, businessId, filter))
}
