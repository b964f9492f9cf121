/**
 * A timeline for experiments: contacts and outbox rows as the save leaves them, and the resulting data in ClickHouse.
 */
import { randomUUID } from 'node:crypto'
import { uuidv7 } from 'uuidv7'
import { type Logger, createLogger } from '../../src/log.ts'
import { finishErasures } from '../../src/erasure/finish-erasures.ts'
import { createErasureMask } from '../../src/timeline/shipping/mask-erased-contacts.ts'
import { type Lease, takeLease } from '../../src/timeline/lease.ts'
import type { SegmentChangeRow } from '../../src/outbox/segment-change-row.ts'
import { type TimelineRow, encodeTimelineRow } from '../../src/outbox/timeline-row.ts'
import { writeLines } from '../../src/outbox/pack-events.ts'
import { shipOutbox } from '../../src/timeline/shipping/ship-outbox.ts'
import { openStack, type Stack } from '../support/stack.ts'

export interface Lab extends Pick<Stack, 'sql' | 'clickhouse' | 'clickhouseUrl'> {
  log: Logger
  lease: Lease
  close(): Promise<void>
}

export async function openLab(): Promise<Lab> {
  const log = createLogger({ level: 'silent', name: 'test' })
  const { sql, clickhouse, clickhouseUrl, close } = await openStack({}, { ownClickHouse: true })
  const lab: Lab = {
    sql,
    clickhouse,
    clickhouseUrl,
    log,
    lease: await takeLease({ sql, log }, 60_000),
    async close() {
      await lab.lease.release()
      await close()
    },
  }
  return lab
}

export interface ContactSeed {
  id?: string
  firstName?: string
  stage?: number
  tags?: string[]
  traits?: Record<string, [number, string | null]>
  orderCount?: number
  revenue?: Record<string, string>
  createdAt?: number
  identities?: IdentitySeed[]
}

export interface IdentitySeed {
  kind: 'email' | 'phone' | 'platformCustomerId'
  value: string
  isProven?: boolean
  isRead?: boolean
}

export async function addContact({ sql }: Lab, businessId: string, seed: ContactSeed = {}): Promise<string> {
  const id = seed.id ?? uuidv7()
  const traits = JSON.stringify(seed.traits ?? {})
  const tags = JSON.stringify(seed.tags ?? [])
  await sql`
    insert into contacts (business_id, id, created_at, keyed, first_name, stage, tags, traits, order_count)
    values (${businessId}, ${id}, ${seed.createdAt ?? 1_700_000_000_000}, true, ${seed.firstName ?? null}, ${seed.stage ?? 0},
      array(select json_array_elements_text(${tags}::text::json)), ${traits}::text::jsonb, ${seed.orderCount ?? 0})`
  for (const [currency, amount] of Object.entries(seed.revenue ?? {})) {
    await sql`insert into revenue values (${businessId}, ${id}, ${currency}, ${amount})`
  }
  for (const identity of seed.identities ?? []) await addIdentity({ sql }, businessId, id, identity)
  return id
}

export async function addIdentity(
  { sql }: Pick<Lab, 'sql'>,
  businessId: string,
  contactId: string,
  { kind, value, isProven = true, isRead = false }: IdentitySeed,
): Promise<void> {
  await sql`insert into identities (business_id, kind, value, contact_id, proven, phone_read)
    values (${businessId}, ${kind}, ${value}, ${contactId}, ${isProven}, ${isRead})`
}

export type EventSeed = Partial<TimelineRow> & Pick<TimelineRow, 'contact_id'>

export function eventOf(businessId: string, seed: EventSeed): TimelineRow {
  const now = Date.now()
  return {
    business_id: businessId,
    event_id: uuidv7(),
    event: 'lesson_done',
    occurred_ms: now,
    received_ms: now,
    type: 'none',
    value: null,
    currency: null,
    counted: '0',
    is_order: 0,
    properties: '',
    source: 'live',
    idempotency_key: null,
    visitor_id: null,
    ...seed,
  }
}

/** Saves one outbox row, as one save does. `touched`: contacts that changed in addition to those of the events. */
export async function save(
  lab: Lab,
  businessId: string,
  seeds: EventSeed[],
  touched: string[] = [],
): Promise<TimelineRow[]> {
  const events = seeds.map((seed) => eventOf(businessId, seed))
  await saveLines(lab, businessId, events.map(encodeTimelineRow), [...seeds.map((seed) => seed.contact_id), ...touched])
  return events
}

export async function saveLines({ sql }: Lab, businessId: string, lines: string[], touched: string[]): Promise<void> {
  const ids = [...new Set(touched)]
  const events = writeLines(lines)
  const unpackedBytes = events.startsWith('zstd:') ? Buffer.byteLength(lines.join('\n')) : null
  await sql`
    insert into outbox (events, unpacked_bytes, event_count, business_ids, contact_ids, changed)
    values (${events}, ${unpackedBytes}, ${lines.length}, ${`{${ids.map(() => businessId).join(',')}}`}::uuid[], ${`{${ids.join(',')}}`}::uuid[],
      ${`{${ids.map(() => true).join(',')}}`}::boolean[])`
}

export type SegmentChange = Pick<SegmentChangeRow, 'contact_id' | 'at_ms'> & Partial<SegmentChangeRow>

/** Saves entries into a segment and exits from it, as one save does. */
export async function saveSegmentChanges(
  { sql }: Lab,
  businessId: string,
  segmentId: string,
  changes: SegmentChange[],
): Promise<SegmentChangeRow[]> {
  const rows = changes.map((change): SegmentChangeRow => ({
    business_id: businessId,
    segment_id: segmentId,
    change_id: uuidv7(),
    entered: 1,
    cause: 'live',
    ...change,
  }))
  const lines = rows.map((row) => JSON.stringify(row)).join('\n')
  const ids = `{${changes.map(({ contact_id }) => contact_id).join(',')}}`
  await sql`
    insert into outbox (events, event_count, business_ids, contact_ids, changed, segment_changes)
    select '', 0, array_agg(${businessId}::uuid), array_agg(id), array_agg(false), ${lines}
    from (select distinct unnest(${ids}::uuid[]) as id) touched`
  return rows
}

/** Merges contacts: the losing ids point to the survivor, and all of them have changed. */
export async function merge(lab: Lab, businessId: string, losers: string[], survivor: string): Promise<void> {
  const all = [...losers, survivor]
  await lab.sql`update contacts set revision = revision + 1
    where business_id = ${businessId} and id = any(${`{${all.join(',')}}`}::uuid[])`
  await lab.sql`update contacts set merged_into = ${survivor}
    where business_id = ${businessId} and id = any(${`{${losers.join(',')}}`}::uuid[])`
  await save(lab, businessId, [], all)
}

/** Erases a person as Postgres does: deletes the rows, and records the ids. */
export async function erase(lab: Lab, businessId: string, ids: string[]): Promise<void> {
  const list = `{${ids.join(',')}}`
  await lab.sql`delete from contacts where business_id = ${businessId} and id = any(${list}::uuid[])`
  await lab.sql`insert into erasures (business_id, contact_id, erased_as) select ${businessId}, id, ${ids[0] ?? ''}::uuid
    from unnest(${list}::uuid[]) id`
}

/** Ships everything that waits. Returns the number of groups. */
export async function shipAll(lab: Lab): Promise<number> {
  let groups = 0
  while ((await shipOutbox(lab, lab.lease)) !== undefined) groups += 1
  return groups
}

/** Deletes erased data from ClickHouse. Returns the number of ids. */
export async function eraseAll(lab: Lab): Promise<number> {
  const hideMore = createErasureMask(lab)
  while ((await hideMore()) === 'more');
  return await finishErasures(lab)
}

export async function query<Row>(
  { clickhouse }: Pick<Lab, 'clickhouse'>,
  sql: string,
  params: Record<string, unknown> = {},
): Promise<Row[]> {
  const result = await clickhouse.query({
    query: `${sql} settings output_format_json_quote_64bit_integers = 0`,
    query_params: params,
    format: 'JSONEachRow',
  })
  return await result.json<Row>()
}

export const newBusiness = (): string => randomUUID()

/** Counts the rows and the statistics of one business in ClickHouse. */
export async function countOf(lab: Lab, businessId: string): Promise<{ events: number; counted: number }> {
  const [row] = await query<{ events: number; counted: number }>(
    lab,
    `select (select count() from events where business_id = {b: UUID}) as events,
      (select sum(count) from event_statistics where business_id = {b: UUID}) as counted`,
    { b: businessId },
  )
  return row ?? { events: -1, counted: -1 }
}

export async function waitingRows({ sql }: Lab): Promise<number> {
  const [row] = await sql<{ n: number }[]>`select count(*) as n from outbox where shipped_at is null`
  return row?.n ?? -1
}
