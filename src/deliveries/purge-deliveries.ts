import { CHUNK_ROWS } from '../stores/run-in-chunks.ts'
import type { Sql } from '../stores/postgres.ts'

/**
 * Forgets what was sent, or given up, more than `keepMs` ago, `CHUNK_ROWS` at most: sending never waits for long. Answers `more`
 * when there may be more of them.
 */
export async function purgeDeliveries(sql: Sql, keepMs: number): Promise<'more' | 'done'> {
  // A merge or an erasure that has one in its hands keeps it until the next time.
  const { count } = await sql`
    with step as materialized (
      select business_id, id from deliveries
      where state <> 'queued' and settled_at < now() - ${keepMs} * interval '1 millisecond'
      order by settled_at limit ${CHUNK_ROWS} for update skip locked
    )
    delete from deliveries d using step where d.business_id = step.business_id and d.id = step.id`
  return count === CHUNK_ROWS ? 'more' : 'done'
}
