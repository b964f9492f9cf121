/** The history of a segment: the rows in ClickHouse, and those that are still in the outbox. */
import { sleep } from '../async/sleep.ts'
import type { Logger } from '../log.ts'
import type { SegmentChangeRow } from '../outbox/segment-change-row.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import { textLiteral } from '../stores/clickhouse-literal.ts'
import type { Sql } from '../stores/postgres.ts'
import { type RetryOptions, queryWithRetry } from '../timeline/reading/query-with-retry.ts'
import { READ_TIMEOUTS } from '../timeline/reading/read-timeline.ts'

export interface HistoryDeps {
  sql: Sql
  clickhouse: ClickHouseClient
  log: Logger
  /** How long a read waits for ClickHouse, and for changes that are still to be written or shipped. */
  patience?: RetryOptions
}

export interface SegmentId {
  businessId: string
  segmentId: string
}

/**
 * Maximum number of changes that are read from the outbox. When there are more, a read waits until they are shipped.
 */
const MAX_UNSHIPPED = 20_000
const LOOK_MS = 100

/**
 * Queries ClickHouse for the changes of a segment. The query gets two tables with the columns change_id, contact_id,
 * at_ms, entered and cause: `shipped`, and `unshipped`, which comes from the outbox. Together they have every change
 * that was answered before the call. The outbox is read before ClickHouse, so a group that is shipped between the two
 * reads is in at least one of them. A change can be in both. Resolves with undefined when ClickHouse does not answer in
 * time.
 */
export async function queryChanges<Row>(
  deps: HistoryDeps,
  segment: SegmentId,
  { query: wanted, params }: { query: string; params: Record<string, unknown> },
): Promise<Row[] | undefined> {
  const { patience = READ_TIMEOUTS } = deps
  const unshipped = await readUnshipped(deps, segment, patience)
  if (unshipped === undefined) return undefined
  const query = `${tablesOf(unshipped)} ${wanted}`
  return await queryWithRetry(deps, patience, async (signal) => {
    const result = await deps.clickhouse.query({
      query,
      query_params: { business: segment.businessId, segment: segment.segmentId, ...params },
      format: 'JSONEachRow',
      abort_signal: signal,
      clickhouse_settings: {
        output_format_json_quote_64bit_integers: 0,
        max_query_size: String(query.length * 4 + QUERY_ROOM),
        max_memory_usage: String(MEMORY_BYTES),
      },
    })
    return await result.json<Row>()
  })
}

const QUERY_ROOM = 100_000
/** A report must not take the memory that inserts need. */
const MEMORY_BYTES = 1024 ** 3

/** UUIDs are compared as text, because ClickHouse orders them by their second half first. */
const SHIPPED = `select toString(change_id) as change_id, contact_id, at_ms, entered, cause from segment_changes
  where business_id = {business: UUID} and segment_id = {segment: UUID}`

function tablesOf(unshipped: SegmentChangeRow[]): string {
  const lines = unshipped.map(({ change_id, contact_id, at_ms, entered, cause }) =>
    JSON.stringify([change_id, contact_id, at_ms, entered, cause]),
  )
  return `with
    shipped as (${SHIPPED}),
    unshipped as (
      select tupleElement(row, 1) as change_id, tupleElement(row, 2) as contact_id, tupleElement(row, 3) as at_ms,
        tupleElement(row, 4) as entered, tupleElement(row, 5) as cause
      from (
        select JSONExtract(line, 'Tuple(String, UUID, Int64, UInt8, String)') as row
        from (select arrayJoin(splitByChar('\n', ${textLiteral(lines.join('\n'))})) as line)
        where line != ''
      )
    )`
}

/** Returns undefined when they are too many, or still being written, for longer than the patience. */
async function readUnshipped(
  { sql }: Pick<HistoryDeps, 'sql'>,
  { businessId, segmentId }: SegmentId,
  { ms }: RetryOptions,
): Promise<SegmentChangeRow[] | undefined> {
  const until = performance.now() + ms
  for (;;) {
    const isWritten = await isHistoryWritten(sql, { businessId, segmentId })
    const lines = isWritten ? await findUnshipped(sql, segmentId) : []
    if (isWritten && lines.length <= MAX_UNSHIPPED)
      return lines
        .map((line) => JSON.parse(line) as SegmentChangeRow)
        .filter((row) => row.segment_id === segmentId && row.business_id === businessId)
    if (performance.now() > until) return undefined
    await sleep(LOOK_MS)
  }
}

/** The changes of a switch to another rule are written step by step, after the switch. */
async function isHistoryWritten(sql: Sql, { businessId, segmentId }: SegmentId): Promise<boolean> {
  const rows = await sql`
    select from segment_rules
    where business_id = ${businessId} and segment_id = ${segmentId} and state = 'current' and switched_at is not null`
  return rows.length === 0
}

async function findUnshipped(sql: Sql, segmentId: string): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    select line from find_unshipped_changes(${segmentId}, ${MAX_UNSHIPPED + 1}) as line`
  return rows.map(({ line }) => line)
}

/** Returns those of the ids that were erased. */
export async function findErased(sql: Sql, businessId: string, contactIds: string[]): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }[]>`
    select contact_id as id from erasures
    where business_id = ${businessId} and contact_id = any(${`{${contactIds.join(',')}}`}::uuid[])`
  return new Set(rows.map(({ id }) => id))
}
