import type { Sql } from '../stores/postgres.ts'

/** Rows that one statement deletes: a short lock, and little for one vacuum. */
const STEP = 2000

/** Forgets what was sent, or given up, more than `keepMs` ago, in small steps. Returns how many. */
export async function purgeDeliveries(sql: Sql, keepMs: number): Promise<number> {
  let purged = 0
  let step: number
  do {
    // A merge or an erasure that has one in its hands keeps it until the next time.
    const { count } = await sql`
      delete from deliveries where (business_id, id) in (
        select business_id, id from deliveries
        where state <> 'queued' and settled_at < now() - ${keepMs} * interval '1 millisecond'
        order by settled_at limit ${STEP} for update skip locked
      )`
    step = count
    purged += step
  } while (step === STEP)
  return purged
}
