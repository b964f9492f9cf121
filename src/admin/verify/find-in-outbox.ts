import type { Sql } from '../../stores/postgres.ts'
import { lookUpEvents } from '../../outbox/look-up-events.ts'
import { readTimelineRow, type TimelineRow } from '../../outbox/timeline-row.ts'
import { linesOf } from '../../outbox/pack-events.ts'
import type { CompareDeps, Different } from './kind.ts'

/** Limits of one statement (ids, rows and bytes), and events per query to ClickHouse. */
const CHUNK_ROWS = 10_000
const ROWS = 1000
const BYTES = 8 * 1024 * 1024
const BATCH = 5000

/** A row of the outbox with the events of the requested contacts. */
interface RecordedRow {
  id: number
  events: TimelineRow[]
}

export interface ShippedRow extends RecordedRow {
  /** Events that ClickHouse lacks, or has in a different form than recorded. */
  lacking: TimelineRow[]
}

/**
 * Walks through the shipped rows that are still in the outbox, and looks up in ClickHouse each event of these contacts,
 * or of all contacts if `contactIds` is undefined.
 */
export async function* findInOutbox(deps: CompareDeps, contactIds: string[] | undefined): AsyncGenerator<ShippedRow[]> {
  for await (const rows of walkOutbox(deps, contactIds, { shippedOnly: true })) yield await lookUp(deps, rows)
}

/** Returns the ids of these contacts' events in the outbox, shipped or not. */
export async function listInOutbox(deps: CompareDeps, contactIds: string[]): Promise<Set<string>> {
  const ids = new Set<string>()
  for await (const rows of walkOutbox(deps, contactIds, { shippedOnly: false }))
    for (const { event_id } of rows.flatMap(({ events }) => events)) ids.add(event_id)
  return ids
}

async function* walkOutbox(
  deps: CompareDeps,
  contactIds: string[] | undefined,
  { shippedOnly }: { shippedOnly: boolean },
) {
  const [range] = await deps.sql<{ first: number | null; last: number }[]>`
    select min(id) as first, max(id) as last from outbox`
  if (typeof range?.first !== 'number') return
  const wanted = contactIds && new Set(contactIds)
  for (let after = range.first - 1; after < range.last && !deps.signal.aborted;) {
    const { rows, upTo } = await readRows(deps.sql, after, contactIds, shippedOnly)
    after = upTo
    if (rows.length > 0) yield rows.map(({ id, events }): RecordedRow => ({ id, events: rowsOf(events, wanted) }))
  }
}

async function readRows(sql: Sql, after: number, contactIds: string[] | undefined, shippedOnly: boolean) {
  const ofThese = contactIds
    ? sql`and exists (select from unnest(contact_ids) as t (id) where t.id = any(${`{${contactIds.join(',')}}`}::uuid[]))`
    : sql``
  const areShipped = shippedOnly ? sql`and shipped_at is not null` : sql``
  const rows = await sql<{ id: number; events: string; more: boolean }[]>`
    select id, events, more from (
      select id, events, row_number() over sofar as place, sum(length) over sofar as bytes,
        row_number() over sofar = ${ROWS} or sum(length) over () > ${BYTES} as more
      from (
        select id, events, coalesce(unpacked_bytes, octet_length(events)) as length from outbox
        where id > ${after} and id <= ${after + CHUNK_ROWS} and events <> '' ${areShipped} ${ofThese}
        order by id limit ${ROWS}
      ) kept
      window sofar as (order by id)
    ) steps
    where place = 1 or bytes <= ${BYTES}
    order by id`
  const last = rows.at(-1)
  return { rows, upTo: last && rows.some(({ more }) => more) ? last.id : after + CHUNK_ROWS }
}

function rowsOf(events: string, wanted: Set<string> | undefined): TimelineRow[] {
  const rows = linesOf(events).flatMap((line) => readTimelineRow(line) ?? [])
  return wanted ? rows.filter((row) => wanted.has(row.contact_id)) : rows
}

async function lookUp(deps: CompareDeps, rows: RecordedRow[]): Promise<ShippedRow[]> {
  const events = rows.flatMap((row) => row.events)
  const lacking = new Set<string>()
  for (let at = 0; at < events.length; at += BATCH)
    for (const [id, presence] of await lookUpEvents(deps.clickhouse, events.slice(at, at + BATCH)))
      if (presence !== 'right') lacking.add(id)
  return rows.map((row) => ({ ...row, lacking: row.events.filter(({ event_id }) => lacking.has(event_id)) }))
}

/** Returns every contact id that events of these contacts may have, with the surviving contact. */
export async function withMergedIds(
  sql: Sql,
  contacts: Pick<Different, 'id' | 'businessId'>[],
): Promise<Map<string, string>> {
  const businesses = `{${[...new Set(contacts.map(({ businessId }) => businessId))].join(',')}}`
  const merged = await sql<{ id: string; survivor: string }[]>`
    select id, merged_into as survivor from contacts
    where business_id = any(${businesses}::uuid[])
      and merged_into = any(${`{${contacts.map(({ id }) => id).join(',')}}`}::uuid[])`
  return new Map([...contacts.map(({ id }) => ({ id, survivor: id })), ...merged].map((one) => [one.id, one.survivor]))
}
