import { CHUNK_ROWS } from '../stores/run-in-chunks.ts'
import type { Sql } from '../stores/postgres.ts'

/**
 * Who reads ClickHouse first and then what was shipped meanwhile has to find those rows (segments/nominate-contacts.ts): longer than a
 * query there may take.
 */
const LEAST_MS = 60_000

/**
 * Deletes outbox rows that ClickHouse has had for longer than `keepMs`, and a minute at least; `CHUNK_ROWS` at most: shipping never
 * waits for long.
 * Answers `more` when there may be more of them.
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
