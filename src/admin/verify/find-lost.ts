/**
 * Events that Postgres lost: it was restored from a backup that is older than they are, and ClickHouse still has them. Nothing
 * reaches ClickHouse but from the outbox. So an event that ClickHouse has was lost where Postgres does not know its contact, or
 * where it was received in the time that the outbox covers and is not in the outbox.
 */
import type { Sql } from '../../stores/postgres.ts'
import { quoted } from '../../timeline/look-up-events.ts'
import { SELECT_EVENT, type TimelineRow } from '../../outbox/timeline-row.ts'
import { ask } from './clickhouse-facts.ts'
import type { CompareDeps } from './compare-one-by-one.ts'
import { listInOutbox } from './find-in-outbox.ts'

export interface LostEvent extends TimelineRow {
  /** The contact that has it in ClickHouse: its own, or the survivor. */
  owner: string
  /** Postgres holds it as an event of an anonymous visitor: it comes back when the visitor is identified again. */
  isAnonymous: boolean
}

/** Contacts in one question. */
const BATCH = 500

/**
 * The lost events of these contacts of one business, and of those merged into them, each once. Not those of people who are
 * erased in ClickHouse.
 *
 * @param since from when on the outbox is complete, where that was read before; see `readCovered`
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
 * From when on the outbox holds every event that Postgres recorded (epoch ms of the receipt). Rows leave it in the order in
 * which they were shipped. Where no shipped row is left, all that was applied is older than the partitions' positions.
 */
export async function readCovered(sql: Sql): Promise<number> {
  const [row] = await sql<{ since: number | null }[]>`
    select coalesce(
      (select (extract(epoch from min(shipped_at)) * 1000)::bigint from outbox where shipped_at is not null),
      (select max(split_part(position, '-', 1)::bigint) from positions)
    ) as since`
  return row?.since ?? 0
}

/** ClickHouse before the outbox: what it has was there before. The outbox may lose rows meanwhile, and cover less. */
async function findSome(
  deps: CompareDeps,
  businessId: string,
  contactIds: string[],
  known: number | undefined,
): Promise<LostEvent[]> {
  const owners = await readOwners(deps, businessId, contactIds)
  const inPostgres = await listKnown(deps.sql, businessId, [...owners.keys()])
  const unknown = [...owners.keys()].filter((id) => !inPostgres.has(id))
  const before = known ?? (await readCovered(deps.sql))
  const held = await readHeld(deps, { businessId, ids: [...owners.keys()], unknown, since: before })
  if (held.length === 0) return []
  const inOutbox = await listInOutbox(deps, [...new Set(held.map(({ contact_id }) => contact_id))])
  const since = known ?? (await readCovered(deps.sql))
  const anonymous = await listAnonymous(deps.sql, businessId, held)
  return held.flatMap((event) => {
    const { event_id, contact_id, received_ms } = event
    const isAnonymous = anonymous.has(event_id)
    if (inOutbox.has(event_id) || !(isAnonymous || received_ms >= since || !inPostgres.has(contact_id))) return []
    return [{ ...event, isAnonymous, owner: owners.get(contact_id) ?? contact_id }]
  })
}

/** Whose events belong to these contacts in ClickHouse: their own ids and those merged into them, each with its survivor. */
async function readOwners(deps: CompareDeps, businessId: string, contactIds: string[]): Promise<Map<string, string>> {
  const ids = quoted(contactIds)
  const redirects = await ask<{ id: string; survivor: string | null; erased: number }>(
    deps.clickhouse,
    `select toString(contact_id) as id, toString(survivor_id) as survivor, erased from contact_redirects final
    where business_id = '${businessId}' and (contact_id in (${ids}) or survivor_id in (${ids}))`,
  )
  const owners = new Map(contactIds.map((id) => [id, id]))
  for (const { id, survivor } of redirects) owners.set(id, survivor ?? id)
  for (const { id, erased } of redirects) if (erased === 1) owners.delete(id)
  return owners
}

interface Wanted {
  businessId: string
  ids: string[]
  /** Those of them that Postgres does not know. */
  unknown: string[]
  since: number
}

async function readHeld(deps: CompareDeps, { businessId, ids, unknown, since }: Wanted) {
  if (ids.length === 0) return []
  const ofUnknown = unknown.length > 0 ? `or contact_id in (${quoted(unknown)})` : ''
  return await ask<Omit<LostEvent, 'isAnonymous' | 'owner'>>(
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

/** Those that Postgres knows, merged or not, or has erased. */
export async function listKnown(sql: Sql, businessId: string, contactIds: string[]): Promise<Set<string>> {
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
