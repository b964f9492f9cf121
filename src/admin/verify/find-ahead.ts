/**
 * Finds contacts of which ClickHouse has more than Postgres, as after a restore of Postgres from a backup. A repair
 * does not touch them, because it would overwrite the only copy of the data that Postgres lost. `admin recover` saves
 * that data first.
 */
import { quoted } from '../../outbox/look-up-events.ts'
import { countOf } from './contact-kinds.ts'
import { findLost, type LostEvent } from './find-lost.ts'
import type { CompareDeps, Different } from './kind.ts'
import { queryClickHouse } from './query-clickhouse.ts'

export interface ClickHouseAhead {
  reason: 'unknown' | 'erased' | 'merged' | 'events'
  /** Events that Postgres lost. */
  events: LostEvent[]
}

/** `different`: differences of one business. Returns the contacts by id. */
export async function findClickHouseAhead(
  deps: CompareDeps,
  businessId: string,
  different: Different[],
): Promise<Map<string, ClickHouseAhead>> {
  const contacts = different.filter(({ subject }) => subject === 'contact')
  const erased = await listErased(deps, businessId, contacts.filter(lacksSnapshot).map(idOf))
  const suspects = contacts.filter((one) => one.isKnown && (hasMore(one) || isMergedInClickHouse(one)))
  const lost = Map.groupBy(await findLost(deps, businessId, suspects.map(idOf)), ({ owner }) => owner)
  return new Map(
    contacts.flatMap((one): [string, ClickHouseAhead][] => {
      const events = lost.get(one.id) ?? []
      if (!one.isKnown) return [[one.id, { reason: 'unknown', events }]]
      if (erased.has(one.id)) return [[one.id, { reason: 'erased', events }]]
      if (isMergedInClickHouse(one)) return [[one.id, { reason: 'merged', events }]]
      return events.length > 0 ? [[one.id, { reason: 'events', events }]] : []
    }),
  )
}

const idOf = ({ id }: Different): string => id

const lacksSnapshot = ({ isKnown, facts }: Different): boolean =>
  isKnown && facts.some(({ kind, clickhouse }) => kind === 'contact' && clickhouse === null)

/**
 * Returns whether it is merged in ClickHouse but separate in Postgres. Merges are never undone, so Postgres has lost
 * this one.
 */
export const isMergedInClickHouse = ({ isKnown, facts }: Different): boolean =>
  isKnown &&
  facts.some(({ kind, postgres, clickhouse }) => kind === 'merge' && postgres === null && clickhouse !== null)

const hasMore = ({ facts }: Different): boolean =>
  facts.some(({ kind, postgres, clickhouse }) => kind === 'events' && countOf(clickhouse) > countOf(postgres))

/** Returns contacts with an erasure mark in ClickHouse. The mark is made after Postgres has erased the person. */
async function listErased({ clickhouse }: CompareDeps, businessId: string, contactIds: string[]): Promise<Set<string>> {
  if (contactIds.length === 0) return new Set()
  const rows = await queryClickHouse<{ id: string }>(
    clickhouse,
    `select toString(contact_id) as id from contact_redirects final
    where business_id = '${businessId}' and contact_id in (${quoted(contactIds)}) and erased = 1`,
  )
  return new Set(rows.map(({ id }) => id))
}
