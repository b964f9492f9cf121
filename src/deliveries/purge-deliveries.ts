import { STEP } from '../in-steps.ts'
import type { Sql } from '../stores/postgres.ts'

/**
 * Forgets what was sent, or given up, more than `keepMs` ago, `STEP` at most: sending never waits for long. Answers `more`
 * when there may be more of them.
 */
export async function purgeDeliveries(sql: Sql, keepMs: number): Promise<'more' | 'done'> {
  // A merge or an erasure that has one in its hands keeps it until the next time.
  const { count } = await sql`
    delete from deliveries where (business_id, id) in (
      select business_id, id from deliveries
      where state <> 'queued' and settled_at < now() - ${keepMs} * interval '1 millisecond'
      order by settled_at limit ${STEP} for update skip locked
    )`
  return count === STEP ? 'more' : 'done'
}
