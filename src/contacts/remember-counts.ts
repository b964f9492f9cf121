/** Remembers for some seconds how many contacts there are, where that is costly to count. */
import { createTtlCache } from '../async/ttl-cache.ts'
import type { Sql } from '../stores/postgres.ts'
import { type ContactCount, type ContactFilter, countContacts } from './list-contacts.ts'

export const COUNT_KEPT_MS = 10_000

export type RememberedCount = (sql: Sql, businessId: string, filter: ContactFilter) => Promise<ContactCount>

/**
 * To count many takes tens of milliseconds, and the number is not exact: it is counted again after some seconds. A few are counted each
 * time. Those who ask at once share a count. `now`: ms of a monotonic clock.
 */
export function createRememberedCount(now?: () => number): RememberedCount {
  const isKept = ({ kind }: ContactCount) => kind !== 'exact'
  const counts = createTtlCache<ContactCount>({ ms: COUNT_KEPT_MS, max: 500, isKept }, now)
  return (sql, businessId, filter) =>
    counts(JSON.stringify([businessId, filter]), () => countContacts(sql, businessId, filter))
}
