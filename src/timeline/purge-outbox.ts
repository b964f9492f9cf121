import { STEP, inSteps } from '../in-steps.ts'
import type { Sql } from '../stores/postgres.ts'

/** Deletes outbox rows that ClickHouse has had for longer than `keepMs`. Returns how many. */
export async function purgeOutbox(sql: Sql, keepMs: number): Promise<number> {
  return inSteps(
    () => sql`
      delete from outbox where id in (
        select id from outbox where shipped_at < now() - ${keepMs} * interval '1 millisecond'
        order by shipped_at limit ${STEP}
      )`,
  )
}
