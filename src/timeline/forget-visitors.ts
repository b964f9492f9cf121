import { STEP, inSteps } from '../in-steps.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import type { Sql } from '../stores/postgres.ts'
import { insertStates } from './insert-states.ts'

/**
 * Forgets what visitors did whom nobody has identified, and visitors of nobody's who stay away, from before an instant in
 * epoch ms. A save that counts on what goes just now is decided again. Returns how many rows.
 */
export async function forgetVisitors(
  { sql, clickhouse }: { sql: Sql; clickhouse: ClickHouseClient },
  before: number,
): Promise<number> {
  const events = await inSteps(
    () => sql`
      delete from visitor_events where (business_id, visitor_id, event_id) in (
        select business_id, visitor_id, event_id from visitor_events
        where received_at < ${before} order by received_at limit ${STEP}
      )`,
  )
  const visitors = await inSteps(() => forgetSome(sql, clickhouse, before))
  return events + visitors
}

/** One that changes meanwhile stays, here and there: its new revision is past the mark. */
async function forgetSome(sql: Sql, clickhouse: ClickHouseClient, before: number): Promise<{ count: number }> {
  const stale = await sql<{ business_id: string; visitor_id: string; revision: number }[]>`
    select business_id, visitor_id, revision from visitors
    where contact_id is null and current_contact_id is null and last_seen_at < ${before}
      -- Somebody may have had it between two who were erased.
      and not exists (
        select from visitor_links l
        where l.business_id = visitors.business_id and l.visitor_id = visitors.visitor_id and l.contact_id is not null
      )
    order by last_seen_at limit ${STEP}`
  const marks = stale.map((visitor) => JSON.stringify({ ...visitor, revision: visitor.revision + 1, erased: 1 }))
  // ClickHouse first: whoever dies in between does both again.
  for (const table of ['visitors', 'visitor_touches'] as const) await insertStates(clickhouse, table, marks)
  await sql`
    delete from visitors v
    using json_to_recordset(${JSON.stringify(stale)}::text::json) as s (business_id uuid, visitor_id text, revision bigint)
    where v.business_id = s.business_id and v.visitor_id = s.visitor_id and v.revision = s.revision`
  return stale
}
