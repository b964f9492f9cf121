import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { insertStates } from '../../stores/insert-states.ts'

/**
 * Sends the erasure marks of the visitors that a group forgot. `outbox.visitor_forgotten` has their tombstone revisions,
 * each higher than any row of the visitor in ClickHouse and lower than any later one.
 */
export async function sendForgotten(
  { sql, clickhouse }: { sql: Sql; clickhouse: ClickHouseClient },
  groupId: string,
  signal?: AbortSignal,
): Promise<void> {
  const forgotten = await sql`
    select t.business_id, t.visitor_id, t.revision, 1 as erased
    from outbox o,
      unnest(o.visitor_business_ids, o.visitor_ids, o.visitor_forgotten) as t (business_id, visitor_id, revision)
    where o.group_id = ${groupId} and o.shipped_at is null and t.revision is not null`
  const marks = forgotten.map((mark) => JSON.stringify(mark))
  for (const table of ['visitors', 'visitor_touches'] as const) await insertStates(clickhouse, table, marks, signal)
}
