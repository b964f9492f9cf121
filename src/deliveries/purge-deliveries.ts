import { CHUNK_ROWS } from '../stores/run-in-chunks.ts'
import type { Sql } from '../stores/postgres.ts'

/**
 * Deletes deliveries that were sent or given up more than `keepMs` ago. Deletes at most `CHUNK_ROWS`, so that sending
 * never waits long. Returns `more` when there may be more.
 */
export async function purgeDeliveries(sql: Sql, keepMs: number): Promise<'more' | 'done'> {
  // Skips rows that a merge or an erasure has locked, until the next call.
  const { count } = await sql`
    with step as materialized (
      select business_id, id from deliveries
      where state <> 'queued' and settled_at < now() - ${keepMs} * interval '1 millisecond'
      order by settled_at limit ${CHUNK_ROWS} for update skip locked
    )
    delete from deliveries d using step where d.business_id = step.business_id and d.id = step.id`
  return count === CHUNK_ROWS ? 'more' : 'done'
}
