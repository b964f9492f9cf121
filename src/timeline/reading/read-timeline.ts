import type { Logger } from '../../log.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { type RetryOptions, queryWithRetry } from './query-with-retry.ts'
import { SELECT_EVENT, type TimelineEvent, type TimelineRow, toTimelineEvent } from '../../outbox/timeline-row.ts'
import { type EventFilter, readUnshipped } from './read-unshipped.ts'
import { type TimelinePosition, decodeCursor, encodeCursor, newestFirst } from './timeline-cursor.ts'

export interface ReadDeps {
  sql: Sql
  clickhouse: ClickHouseClient
  log: Logger
  /** Aborts when the answer is no longer needed. */
  signal?: AbortSignal
}

export interface TimelineQuery {
  businessId: string
  /** The id of the contact and all ids that were merged into it. */
  contactIds: string[]
  /** Maximum number of events on one page, at least 1. */
  limit: number
  /** `nextCursor` of the previous page; null for the first page. */
  cursor: string | null
  /** Only events with this name, or with this interpreted type. */
  filter?: EventFilter
}

export interface TimelinePage {
  events: TimelineEvent[]
  /** Null on the last page. */
  nextCursor: string | null
}

/**
 * How long a read waits for ClickHouse (decisions, "Reading back"). A busy ClickHouse that answers pings gets more
 * time.
 */
export const READ_TIMEOUTS: RetryOptions = { ms: 3000, whileAliveMs: 10_000 }

/**
 * Returns one page of a person's timeline, newest `occurredAt` first. It contains every event that was answered with
 * 200 before the call. At that time, the outbox row of the event was committed. When the outbox is read, the row is
 * either unshipped and found there, or already marked as shipped. In the second case ClickHouse, which is read after
 * the outbox, has the event. Reading in the other order would miss a group that is shipped between the two reads. An
 * event in both is returned once.
 */
export async function readTimeline(
  deps: ReadDeps,
  query: TimelineQuery,
  patience = READ_TIMEOUTS,
): Promise<TimelinePage | 'unavailable' | 'invalid_cursor'> {
  const before = query.cursor === null ? undefined : decodeCursor(query.cursor)
  if (query.cursor !== null && before === undefined) return 'invalid_cursor'
  // One more than the page holds, to find out whether there is a next page.
  const count = query.limit + 1
  const unshipped = await readUnshipped(deps.sql, { ...query, before, count })
  const shipped = await queryWithRetry(deps, patience, (signal) =>
    selectEvents(deps.clickhouse, { ...query, before, count }, signal),
  )
  return shipped === undefined ? 'unavailable' : toPage([...unshipped, ...shipped], query.limit)
}

/** Ids are compared as text: ClickHouse orders UUIDs by their second half first. */
async function selectEvents(
  clickhouse: ClickHouseClient,
  {
    businessId,
    contactIds,
    before,
    count,
    filter = {},
  }: {
    businessId: string
    contactIds: string[]
    before: TimelinePosition | undefined
    count: number
    filter?: EventFilter
  },
  signal: AbortSignal,
): Promise<TimelineRow[]> {
  const older = before
    ? 'and occurred_ms <= {ms: Int64} and (occurred_ms < {ms: Int64} or toString(event_id) < {id: String})'
    : ''
  const wanted = (['event', 'type'] as const).filter((name) => filter[name] !== undefined)
  const chosen = wanted.map((name) => `and ${name} = {${name}: String}`).join(' ')
  const result = await clickhouse.query({
    query: `
      select ${SELECT_EVENT}
      from events
      where business_id = {business: UUID} and contact_id in {contacts: Array(UUID)} ${older} ${chosen}
      order by occurred_ms desc, toString(event_id) desc
      limit {count: UInt32}
      settings output_format_json_quote_64bit_integers = 0, output_format_json_quote_denormals = 0`,
    query_params: {
      business: businessId,
      contacts: contactIds,
      count,
      ...filter,
      ...(before && { ms: before.occurred_ms, id: before.event_id }),
    },
    format: 'JSONEachRow',
    abort_signal: signal,
  })
  return await result.json<TimelineRow>()
}

/** Characters of properties after which a page ends: the answer stays in memory while a slow caller reads it. */
export const PAGE_CHARACTERS = 4 * 1024 * 1024

export function toPage(rows: TimelineRow[], limit: number): TimelinePage {
  const distinct = [...new Map(rows.map((row) => [row.event_id, row])).values()].toSorted(newestFirst)
  let characters = 0
  const end = distinct.findIndex((row, at) => {
    characters += row.properties.length
    return at === limit || (at > 0 && characters > PAGE_CHARACTERS)
  })
  if (end === -1) return { events: distinct.map(toTimelineEvent), nextCursor: null }
  const page = distinct.slice(0, end)
  const last = page.at(-1)
  return { events: page.map(toTimelineEvent), nextCursor: last ? encodeCursor(last) : null }
}
