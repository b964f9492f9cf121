import { CHUNK_ROWS } from '../stores/run-in-chunks.ts'
import type { Sql } from '../stores/postgres.ts'

/**
 * Forgets what visitors did whom nobody has identified, and visitors of nobody's who stay away, from before an instant in
 * epoch ms: `CHUNK_ROWS` of each at most, so that shipping never waits for long. A save that counts on what goes just now is decided
 * again. Answers `more` when there may be more of them.
 */
export async function forgetVisitors(sql: Sql, before: number): Promise<'more' | 'done'> {
  const { count: events } = await sql`
    with step as materialized (
      select business_id, visitor_id, event_id from visitor_events
      where received_at < ${before} order by received_at limit ${CHUNK_ROWS}
    )
    delete from visitor_events e using step
    where e.business_id = step.business_id and e.visitor_id = step.visitor_id and e.event_id = step.event_id`
  const visitors = await forgetStale(sql, before)
  return events === CHUNK_ROWS || visitors === CHUNK_ROWS ? 'more' : 'done'
}

/** Who is being seen just now stays. The outbox tells ClickHouse of those who went, and of nobody else. */
async function forgetStale(sql: Sql, before: number): Promise<number> {
  const [gone] = await sql<[{ count: number }]>`
    with stale as materialized (
      select business_id, visitor_id from visitors
      where contact_id is null and current_contact_id is null and last_seen_at < ${before}
        -- A keyed call may still name it (decisions, "Callers without a secret key").
        and not waits
        -- Somebody may have had it between two who were erased.
        and not exists (
          select from visitor_links l
          where l.business_id = visitors.business_id and l.visitor_id = visitors.visitor_id and l.contact_id is not null
        )
      order by last_seen_at limit ${CHUNK_ROWS} for update skip locked
    ),
    gone as (
      delete from visitors v using stale s where v.business_id = s.business_id and v.visitor_id = s.visitor_id
      returning v.business_id, v.visitor_id, v.revision
    ),
    told as (
      insert into outbox (events, event_count, business_ids, contact_ids, changed, visitor_business_ids, visitor_ids,
        visitor_forgotten)
      select '', 0, '{}', '{}', '{}', array_agg(business_id), array_agg(visitor_id), array_agg(revision + 1)
      from gone having count(*) > 0
    )
    select count(*)::int as count from gone`
  return gone.count
}
