import type { Logger } from '../log.ts'
import type { InterpretedType, Source } from '../rules/facts.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import type { Sql } from '../stores/postgres.ts'
import { askPatiently } from './ask-patiently.ts'
import { type TimelineRow, decodeTimelineRow } from './outbox-row.ts'
import { linesOf } from './outbox-text.ts'
import { type Position, decodeCursor, encodeCursor } from './timeline-cursor.ts'

export interface ReadDeps {
  sql: Sql
  clickhouse: ClickHouseClient
  log: Logger
}

export interface TimelineQuery {
  businessId: string
  /** The contact and every id that was merged into it. */
  contactIds: string[]
  /** Events on one page, at least 1. */
  limit: number
  /** `nextCursor` of the page before; null for the first. */
  cursor: string | null
}

export interface TimelinePage {
  events: TimelineEvent[]
  /** Null at the end. */
  nextCursor: string | null
}

/** One event as the API tells it (decisions, "Reading back"). Instants are ISO 8601 UTC. */
interface TimelineEvent {
  eventId: string
  event: string
  occurredAt: string
  receivedAt: string
  type: InterpretedType
  value: number | null
  currency: string | null
  countedRevenue: number
  /** Null when none were sent. */
  properties: Record<string, unknown> | null
  source: Source
  idempotencyKey: string | null
  visitorId: string | null
}

/** How long a read waits for ClickHouse (decisions, "Reading back"). */
const PATIENCE_MS = 3000

/**
 * One page of a person's timeline, newest `occurredAt` first. It holds every event answered with 200 before the call: at
 * that time the event's outbox row was committed, and when the outbox is read it is either still unshipped, and found
 * there, or it was marked as shipped before, and then ClickHouse, read after the outbox, has it. The other order would
 * miss a group that is shipped between the two reads. An event in both is told once.
 */
export async function readTimeline(
  deps: ReadDeps,
  query: TimelineQuery,
): Promise<TimelinePage | 'unavailable' | 'invalid_cursor'> {
  const before = query.cursor === null ? undefined : decodeCursor(query.cursor)
  if (query.cursor !== null && before === undefined) return 'invalid_cursor'
  const unshipped = await readUnshipped(deps.sql, query)
  const shipped = await askPatiently(deps.log, PATIENCE_MS, (signal) =>
    selectEvents(deps.clickhouse, query, before, signal),
  )
  if (shipped === undefined) return 'unavailable'
  const rows = [...unshipped.filter((row) => before === undefined || newestFirst(before, row) < 0), ...shipped]
  return toPage(rows, query.limit)
}

async function readUnshipped(sql: Sql, { businessId, contactIds }: TimelineQuery): Promise<TimelineRow[]> {
  const saves = await sql<{ events: string }[]>`
    select events from outbox where shipped_at is null and contact_ids && ${`{${contactIds.join(',')}}`}::uuid[]`
  return saves
    .flatMap(({ events }) => linesOf(events))
    .filter((line) => contactIds.some((id) => line.includes(id)))
    .map(decodeTimelineRow)
    .filter((row) => row.business_id === businessId && contactIds.includes(row.contact_id))
}

/** Ids are compared as text: ClickHouse orders UUIDs by their second half first. */
async function selectEvents(
  clickhouse: ClickHouseClient,
  { businessId, contactIds, limit }: TimelineQuery,
  before: Position | undefined,
  signal: AbortSignal,
): Promise<TimelineRow[]> {
  const older = before
    ? 'and occurred_ms <= {ms: Int64} and (occurred_ms < {ms: Int64} or toString(event_id) < {id: String})'
    : ''
  const result = await clickhouse.query({
    query: `
      select business_id, contact_id, event_id, event, occurred_ms, received_ms, type, value, currency,
        toString(counted) as counted, is_order, properties, source, idempotency_key, visitor_id
      from events
      where business_id = {business: UUID} and contact_id in {contacts: Array(UUID)} ${older}
      order by occurred_ms desc, toString(event_id) desc
      limit {count: UInt32}
      settings output_format_json_quote_64bit_integers = 0, output_format_json_quote_denormals = 0`,
    query_params: {
      business: businessId,
      contacts: contactIds,
      // One more tells whether there is a next page.
      count: limit + 1,
      ...(before && { ms: before.occurred_ms, id: before.event_id }),
    },
    format: 'JSONEachRow',
    abort_signal: signal,
  })
  return await result.json<TimelineRow>()
}

function toPage(rows: TimelineRow[], limit: number): TimelinePage {
  const distinct = [...new Map(rows.map((row) => [row.event_id, row])).values()].toSorted(newestFirst)
  const page = distinct.slice(0, limit)
  const last = page.at(-1)
  return {
    events: page.map(toEvent),
    nextCursor: last && distinct.length > limit ? encodeCursor(last) : null,
  }
}

/** At one instant the greater id comes first; ids made later are greater. */
function newestFirst(a: Position, b: Position): number {
  if (a.occurred_ms !== b.occurred_ms) return b.occurred_ms - a.occurred_ms
  if (a.event_id === b.event_id) return 0
  return a.event_id > b.event_id ? -1 : 1
}

function toEvent(row: TimelineRow): TimelineEvent {
  return {
    eventId: row.event_id,
    event: row.event,
    occurredAt: new Date(row.occurred_ms).toISOString(),
    receivedAt: new Date(row.received_ms).toISOString(),
    type: row.type,
    value: row.value,
    currency: row.currency,
    countedRevenue: Number(row.counted),
    properties: row.properties === '' ? null : (JSON.parse(row.properties) as Record<string, unknown>),
    source: row.source,
    idempotencyKey: row.idempotency_key,
    visitorId: row.visitor_id,
  }
}
