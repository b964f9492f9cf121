import type { Sql } from '../stores/postgres.ts'

/** Rows that one statement deletes: a short lock, and little for one vacuum. */
const STEP = 2000

/**
 * Forgets what visitors did whom nobody has identified, and visitors of nobody's who stay away, from before an instant in
 * epoch ms. A save that counts on what goes just now is decided again. Returns how many rows.
 */
export async function forgetVisitors(sql: Sql, before: number): Promise<number> {
  const events = await inSteps(
    () => sql`
      delete from visitor_events where (business_id, visitor_id, event_id) in (
        select business_id, visitor_id, event_id from visitor_events
        where received_at < ${before} order by received_at limit ${STEP}
      )`,
  )
  const visitors = await inSteps(
    () => sql`
      delete from visitors where (business_id, visitor_id) in (
        select business_id, visitor_id from visitors
        where contact_id is null and current_contact_id is null and last_seen_at < ${before}
        order by last_seen_at limit ${STEP}
      ) and contact_id is null and current_contact_id is null and last_seen_at < ${before}`,
  )
  return events + visitors
}

async function inSteps(step: () => PromiseLike<{ count: number }>): Promise<number> {
  let total = 0
  for (;;) {
    const { count } = await step()
    total += count
    if (count < STEP) return total
  }
}
