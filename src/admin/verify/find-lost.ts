/**
 * Finds events that Postgres lost: it was restored from an older backup, and ClickHouse still has them. Events reach
 * ClickHouse only from the outbox. So Postgres lost an event of ClickHouse if Postgres does not know its contact, or if
 * the event was received in the time that the outbox covers but is not in the outbox.
 */
import type { Sql } from '../../stores/postgres.ts'
import { quoted } from '../../outbox/look-up-events.ts'
import { SELECT_EVENT, type TimelineRow } from '../../outbox/timeline-row.ts'
import { listInOutbox } from './find-in-outbox.ts'
import type { CompareDeps } from './kind.ts'
import { queryClickHouse } from './query-clickhouse.ts'

export interface LostEvent extends TimelineRow {
  /** The contact that has the event in ClickHouse: its own, or the survivor. */
  owner: string
  /**
   * Whether Postgres has it as an event of an anonymous visitor, which returns when the visitor is identified again.
   */
  isAnonymous: boolean
}

/** Contacts per query. */
const BATCH = 500

/**
 * Returns the lost events of these contacts of one business, and of contacts merged into them, each once. Excludes
 * events of people who are erased in ClickHouse.
 *
 * @param since result of `readCovered`, if it was read earlier
 */
export async function findLost(
  deps: CompareDeps,
  businessId: string,
  contactIds: string[],
  since?: number,
): Promise<LostEvent[]> {
  const lost: LostEvent[] = []
  for (let at = 0; at < contactIds.length && !deps.signal.aborted; at += BATCH)
    lost.push(...(await findSome(deps, businessId, contactIds.slice(at, at + BATCH), since)))
  return lost
}

/**
 * Returns the time in epoch milliseconds from which the outbox is complete: it has every event that Postgres recorded
 * and that was received later. Rows leave the outbox in the order in which they were shipped. If no shipped row is
 * left, every applied event is older than the positions of the partitions.
 */
export async function readCovered(sql: Sql): Promise<number> {
  const [row] = await sql<{ since: number | null }[]>`
    select coalesce(
      (select (extract(epoch from min(shipped_at)) * 1000)::bigint from outbox where shipped_at is not null),
      (select max(split_part(position, '-', 1)::bigint) from positions)
    ) as since`
  return row?.since ?? 0
}

/**
 * Reads ClickHouse before the outbox, so its events were already in the outbox. In the meantime the outbox may purge
 * rows and cover less time.
 */
async function findSome(deps: CompareDeps, businessId: string, contactIds: string[], knownSince?: number) {
  const owners = await readOwners(deps, businessId, contactIds)
  const inPostgres = await listKnown(deps.sql, businessId, [...owners.keys()])
  const unknown = [...owners.keys()].filter((id) => !inPostgres.has(id))
  const before = knownSince ?? (await readCovered(deps.sql))
  const events = await readEvents(deps, businessId, [...owners.keys()], unknown, before)
  if (events.length === 0) return []
  const inOutbox = await listInOutbox(deps, [...new Set(events.map(({ contact_id }) => contact_id))])
  const since = knownSince ?? (await readCovered(deps.sql))
  const anonymous = await listAnonymous(deps.sql, businessId, events)
  return events.flatMap((event): LostEvent[] => {
    const { event_id, contact_id, received_ms } = event
    const isAnonymous = anonymous.has(event_id)
    if (inOutbox.has(event_id) || !(isAnonymous || received_ms >= since || !inPostgres.has(contact_id))) return []
    return [{ ...event, isAnonymous, owner: owners.get(contact_id) ?? contact_id }]
  })
}

/**
 * Returns the contact ids whose events belong to these contacts in ClickHouse, each with its survivor: their own, and
 * those merged into them.
 */
async function readOwners(deps: CompareDeps, businessId: string, contactIds: string[]): Promise<Map<string, string>> {
  const ids = quoted(contactIds)
  const redirects = await queryClickHouse<{ id: string; survivor: string | null; erased: number }>(
    deps.clickhouse,
    `select toString(contact_id) as id, toString(survivor_id) as survivor, erased from contact_redirects final
    where business_id = '${businessId}' and (contact_id in (${ids}) or survivor_id in (${ids}))`,
  )
  const owners = new Map(contactIds.map((id) => [id, id]))
  for (const { id, survivor } of redirects) owners.set(id, survivor ?? id)
  for (const { id, erased } of redirects) if (erased === 1) owners.delete(id)
  return owners
}

/** Returns events received since then, events of visitors, and all events of `unknown`. */
async function readEvents(deps: CompareDeps, businessId: string, ids: string[], unknown: string[], since: number) {
  if (ids.length === 0) return []
  const ofUnknown = unknown.length > 0 ? `or contact_id in (${quoted(unknown)})` : ''
  return await queryClickHouse<Omit<LostEvent, 'isAnonymous' | 'owner'>>(
    deps.clickhouse,
    `select ${SELECT_EVENT}
    from events
    where business_id = '${businessId}' and contact_id in (${quoted(ids)})
      and (received_ms >= ${since} or visitor_id is not null ${ofUnknown})
    order by occurred_ms, event_id
    limit 1 by contact_id, event_id
    settings output_format_json_quote_64bit_integers = 0`,
  )
}

/** Returns the contacts that Postgres has, merged or not, or has erased. */
async function listKnown(sql: Sql, businessId: string, contactIds: string[]): Promise<Set<string>> {
  const list = `{${contactIds.join(',')}}`
  const rows = await sql<{ id: string }[]>`
    select id from contacts where business_id = ${businessId} and id = any(${list}::uuid[])
    union all select contact_id from erasures where business_id = ${businessId} and contact_id = any(${list}::uuid[])`
  return new Set(rows.map(({ id }) => id))
}

async function listAnonymous(
  sql: Sql,
  businessId: string,
  events: Pick<TimelineRow, 'event_id' | 'visitor_id'>[],
): Promise<Set<string>> {
  const sent = events.flatMap(({ event_id, visitor_id }) => (visitor_id ? [{ event_id, visitor_id }] : []))
  if (sent.length === 0) return new Set()
  const rows = await sql<{ id: string }[]>`
    select v.event_id as id from json_to_recordset(${JSON.stringify(sent)}::text::json) as x (event_id uuid, visitor_id text)
    join visitor_events v on v.business_id = ${businessId} and v.visitor_id = x.visitor_id collate "C"
      and v.event_id = x.event_id`
  return new Set(rows.map(({ id }) => id))
}
