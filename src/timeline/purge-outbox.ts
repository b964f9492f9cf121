import type { Sql } from '../stores/postgres.ts'

/** Rows that one statement deletes: a short lock, and little for one vacuum. */
const STEP = 2000

/** Deletes outbox rows that ClickHouse has had for longer than `keepMs`, in small steps. Returns how many. */
export async function purgeOutbox(sql: Sql, keepMs: number): Promise<number> {
  let purged = 0
  let step: number
  do {
    step = await purgeStep(sql, keepMs)
    purged += step
  } while (step === STEP)
  return purged
}

async function purgeStep(sql: Sql, keepMs: number): Promise<number> {
  const { count } = await sql`
    delete from outbox where id in (
      select id from outbox where shipped_at < now() - ${keepMs} * interval '1 millisecond'
      order by shipped_at limit ${STEP}
    )`
  return count
}
