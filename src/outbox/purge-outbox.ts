import { CHUNK_ROWS } from '../stores/run-in-chunks.ts'
import type { Sql } from '../stores/postgres.ts'

/**
 * Minimum milliseconds that shipped rows are kept. A caller that reads ClickHouse first, and then the rows that were
 * shipped in the meantime, must find those rows (segments/nominate-contacts.ts). This is longer than its query may
 * take.
 */
const LEAST_MS = 60_000

/**
 * Deletes outbox rows that ClickHouse has had for longer than `keepMs`, or for a minute if that is longer. Deletes at
 * most `CHUNK_ROWS`, so that shipping never waits for long. Resolves with `more` when there may be more of them.
 */
export async function purgeOutbox(sql: Sql, keepMs: number): Promise<'more' | 'done'> {
  const { count } = await sql`
    with step as materialized (
      select id from outbox where shipped_at < now() - ${Math.max(keepMs, LEAST_MS)} * interval '1 millisecond'
      order by shipped_at limit ${CHUNK_ROWS}
    )
    delete from outbox o using step where o.id = step.id`
  return count === CHUNK_ROWS ? 'more' : 'done'
}
