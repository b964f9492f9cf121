import type { ClickHouseClient } from '../stores/clickhouse.ts'
import type { Sql } from '../stores/postgres.ts'
import { requireIdle } from '../stores/require-idle.ts'

/** Number of visits deleted per round. The table is rewritten once per round, not once per visit. */
const VISITS_PER_ROUND = 200
/** No insert takes this long, even if its sender has died. */
const SWEEP_AFTER = '1 hour'

interface ErasedVisit {
  business_id: string
  /** 32 hexadecimal digits: no other visitor can have web events. */
  visitor_id: string
  from_at: number
  to_at: number
}

/**
 * Deletes the web events of erased people from ClickHouse. Batches that are stamped after the erasure leave these
 * events out; this waits for batches that were stamped earlier. An earlier owner may still send such a batch.
 * ClickHouse ignores it as a repeat only while it remembers the first insert, which is not for long when all its rows
 * were deleted. So the visits are deleted again later.
 *
 * This waits for ClickHouse to rewrite the table. Rejects when that takes too long, or while another rewrite runs.
 * Every step can be repeated, even by two owners at once. Resolves with the number of visits.
 */
export async function finishWebErasures(deps: EraseDeps, signal?: AbortSignal): Promise<number> {
  return (await deleteOpen(deps, signal)) + (await sweepClosed(deps, signal))
}

interface EraseDeps {
  sql: Sql
  clickhouse: ClickHouseClient
}

async function deleteOpen({ sql, clickhouse }: EraseDeps, signal?: AbortSignal): Promise<number> {
  const open = await sql`select from erased_visits where deleted_at is null limit 1`
  if (open.count === 0) return 0
  await noteBatchesUnderWay(sql)
  const visits = await sql<ErasedVisit[]>`
    select business_id, visitor_id, from_at, to_at from erased_visits
    where deleted_at is null and behind is not null
      and not exists (select from positions where partition || ' ' || pending = any (behind))
    order by business_id, visitor_id, from_at limit ${VISITS_PER_ROUND}`
  if (visits.length === 0) return 0
  await deleteHits(clickhouse, visits, signal)
  await closeVisits(sql, visits)
  return visits.length
}

async function sweepClosed({ sql, clickhouse }: EraseDeps, signal?: AbortSignal): Promise<number> {
  const visits = await sql<ErasedVisit[]>`
    select business_id, visitor_id, from_at, to_at from erased_visits
    where swept_at is null and deleted_at < now() - ${SWEEP_AFTER}::interval
    order by deleted_at limit ${VISITS_PER_ROUND}`
  if (visits.length === 0) return 0
  await deleteHits(clickhouse, visits, signal)
  await sql`
    update erased_visits v set swept_at = now()
    from json_to_recordset(${JSON.stringify(visits)}::text::json)
      as done (business_id uuid, visitor_id text, from_at bigint, to_at bigint)
    where v.business_id = done.business_id and v.visitor_id = done.visitor_id and v.from_at = done.from_at
      and v.to_at = done.to_at and v.deleted_at is not null`
  return visits.length
}

/**
 * Locks the rows briefly: a stamp that is being written is either read here, or its batch leaves out the erased visits.
 */
async function noteBatchesUnderWay(sql: Sql): Promise<void> {
  await sql`
    with web as materialized (select partition, pending from positions where partition like 'web-%' order by partition for update)
    update erased_visits set
      behind = array(select partition || ' ' || pending from web where pending is not null)
    where deleted_at is null and behind is null`
}

async function deleteHits(clickhouse: ClickHouseClient, visits: ErasedVisit[], signal?: AbortSignal): Promise<void> {
  await requireIdle(clickhouse, ['web_events'], signal)
  const conditions = visits.map(
    ({ business_id, visitor_id, from_at, to_at }) =>
      `business_id = '${business_id}' and visitor_id = '${visitor_id}' and occurred_ms >= ${from_at} and occurred_ms < ${to_at}`,
  )
  const query = `alter table web_events delete where (${conditions.join(') or (')}) settings mutations_sync = 2`
  await clickhouse.command({ query, ...(signal && { abort_signal: signal }) })
}

/**
 * Marks the visits as deleted, and deletes their dead letters. A visit that another erasure has extended in the
 * meantime stays open.
 */
async function closeVisits(sql: Sql, visits: ErasedVisit[]): Promise<void> {
  await sql`
    with closed as (
      update erased_visits v set deleted_at = now()
      from json_to_recordset(${JSON.stringify(visits)}::text::json)
        as done (business_id uuid, visitor_id text, from_at bigint, to_at bigint)
      where v.business_id = done.business_id and v.visitor_id = done.visitor_id and v.from_at = done.from_at
        and v.to_at = done.to_at
      returning v.business_id, v.visitor_id
    )
    delete from dead_letters d using closed
    where d.business_id = closed.business_id and d.kind in ('capture', 'unreadable')
      and d.partition like 'web-%' and position(closed.visitor_id in d.payload) > 0`
}
