/**
 * Contacts of which ClickHouse knows more than Postgres, as after Postgres was restored from a backup. A repair leaves them
 * alone: what it would send over them is all that is left of what was lost. `admin recover` saves that first.
 */
import { quoted } from '../../timeline/look-up-events.ts'
import { ask } from './clickhouse-facts.ts'
import type { CompareDeps, Different } from './compare-one-by-one.ts'
import { findLost, type LostEvent } from './find-lost.ts'

export interface Ahead {
  reason: 'unknown' | 'erased' | 'merged' | 'events'
  /** That Postgres lost. */
  events: LostEvent[]
}

/** By contact id; of those that differ in one business. */
export async function findAhead(
  deps: CompareDeps,
  businessId: string,
  different: Different[],
): Promise<Map<string, Ahead>> {
  const contacts = different.filter(({ of }) => of === 'contact')
  const erased = await listErased(deps, businessId, contacts.filter(lacksSnapshot).map(idOf))
  const suspects = contacts.filter((one) => one.isKnown && (hasMore(one) || isMergedInClickHouse(one)))
  const lost = Map.groupBy(await findLost(deps, businessId, suspects.map(idOf)), ({ owner }) => owner)
  return new Map(
    contacts.flatMap((one): [string, Ahead][] => {
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

/** A contact that was merged is never separate again. */
export const isMergedInClickHouse = ({ isKnown, facts }: Different): boolean =>
  isKnown &&
  facts.some(({ kind, postgres, clickhouse }) => kind === 'merge' && postgres === null && clickhouse !== null)

const countOf = (value: string | null): number => Number(value?.split(' ')[0] ?? 0)

const hasMore = ({ facts }: Different): boolean =>
  facts.some(({ kind, postgres, clickhouse }) => kind === 'events' && countOf(clickhouse) > countOf(postgres))

/** Those that bear the mark of an erasure in ClickHouse. It is made after Postgres has erased the person. */
export async function listErased(
  { clickhouse }: Pick<CompareDeps, 'clickhouse'>,
  businessId: string,
  contactIds: string[],
): Promise<Set<string>> {
  if (contactIds.length === 0) return new Set()
  const rows = await ask<{ id: string }>(
    clickhouse,
    `select toString(contact_id) as id from contact_redirects final
    where business_id = '${businessId}' and contact_id in (${quoted(contactIds)}) and erased = 1`,
  )
  return new Set(rows.map(({ id }) => id))
}
