import type { ClickHouseClient } from '../stores/clickhouse.ts'
import type { Sql } from '../stores/postgres.ts'
import { insertStates } from '../stores/insert-states.ts'
import { LONG_STATEMENT_SETTINGS } from '../outbox/look-up-events.ts'
import { requireIdle } from '../stores/require-idle.ts'
import { textLiteral } from '../stores/clickhouse-literal.ts'

/** Number of ids that one round erases. Each table is rewritten once per round, not once per id. */
const IDS_PER_ROUND = 500
const TABLES = ['events', 'event_statistics', 'contact_snapshots', 'visitor_links', 'visitors', 'visitor_touches']

interface Erasure {
  business_id: string
  contact_id: string
  /** Browsers that only this person used. They are deleted up to `visitor_revision`. */
  visitor_ids: string[]
  /** Browsers that others used, too. Their newer revision no longer contains this person. */
  shared_visitor_ids: string[]
  visitor_revision: number | null
}

interface EraseDeps {
  sql: Sql
  clickhouse: ClickHouseClient
}

/**
 * Deletes the data of erased people from ClickHouse once no more of it can arrive (`createErasureMask`). It runs in
 * parallel with the shipping and waits for ClickHouse to rewrite its tables. Rejects when that takes too long, or while
 * the tables are already being rewritten. Every step can be repeated, even by two owners at once; `deleted_at` is set
 * last. Resolves with the number of ids.
 */
export async function finishErasures({ sql, clickhouse }: EraseDeps, signal?: AbortSignal): Promise<number> {
  const erasures = await sql<Erasure[]>`
    select business_id, contact_id, to_json(visitor_ids) as visitor_ids,
      to_json(shared_visitor_ids) as shared_visitor_ids, visitor_revision
    from erasures where deleted_at is null and hidden_at is not null
    order by business_id, contact_id limit ${IDS_PER_ROUND}`
  if (erasures.length === 0) return 0
  await requireIdle(clickhouse, TABLES, signal)
  await deletePeople(clickhouse, erasures, signal)
  await forgetVisitors(clickhouse, erasures, signal)
  for (const [businessId, group] of Map.groupBy(erasures, (erasure) => erasure.business_id)) {
    // An erasure that was requested again in the meantime is not hidden, and so not finished.
    await sql`update erasures set deleted_at = now()
      where business_id = ${businessId} and contact_id = any(${idList(group)}::uuid[]) and hidden_at is not null`
  }
  return erasures.length
}

/** A mutation rewrites the parts that contain the rows; a lightweight delete would only hide them. */
async function deletePeople(clickhouse: ClickHouseClient, erasures: Erasure[], signal?: AbortSignal): Promise<void> {
  const ids = erasures.map(({ business_id, contact_id }) => `('${business_id}', '${contact_id}')`).join(', ')
  const where = `(business_id, contact_id) in (${ids})`
  for (const change of [
    `events delete where ${where}`,
    `event_statistics delete where ${where}`,
    `contact_snapshots delete where erased = 0 and ${where}`,
    // In a browser that others used, too, the time span stays, but belongs to no contact.
    `visitor_links update contact_id = defaultValueOfTypeName('UUID'), erased = 1 where ${where}`,
  ])
    await rewrite(clickhouse, change, signal)
}

/** Browsers are hidden first, as people are. A browser that comes back has a higher revision and is unknown. */
async function forgetVisitors(clickhouse: ClickHouseClient, erasures: Erasure[], signal?: AbortSignal): Promise<void> {
  const marks = erasures.flatMap(({ business_id, visitor_ids, visitor_revision: revision }) =>
    visitor_ids.map((visitor_id) => JSON.stringify({ business_id, visitor_id, revision, erased: 1 })),
  )
  const own = erasures.flatMap((erasure) => olderOf(erasure, erasure.visitor_ids))
  const shared = erasures.flatMap((erasure) => olderOf(erasure, erasure.shared_visitor_ids))
  await deleteVisitors('visitor_links', own)
  for (const table of ['visitors', 'visitor_touches'] as const) {
    await insertStates(clickhouse, table, marks, signal)
    await deleteVisitors(
      table,
      [...own, ...shared].map((where) => `erased = 0 and ${where}`),
    )
  }

  async function deleteVisitors(table: string, conditions: string[]): Promise<void> {
    if (conditions.length > 0) await rewrite(clickhouse, `${table} delete where (${conditions.join(') or (')})`, signal)
  }
}

function olderOf({ business_id, visitor_revision }: Erasure, visitorIds: string[]): string[] {
  if (visitorIds.length === 0) return []
  // Visitor ids are text that callers chose.
  const ids = visitorIds.map(textLiteral).join(', ')
  return [`business_id = '${business_id}' and revision < ${visitor_revision} and visitor_id in (${ids})`]
}

async function rewrite(clickhouse: ClickHouseClient, change: string, signal?: AbortSignal): Promise<void> {
  const query = `alter table ${change} settings mutations_sync = 2`
  await clickhouse.command({
    query,
    clickhouse_settings: LONG_STATEMENT_SETTINGS,
    ...(signal && { abort_signal: signal }),
  })
}

const idList = (erasures: Erasure[]) => `{${erasures.map(({ contact_id }) => contact_id).join(',')}}`
