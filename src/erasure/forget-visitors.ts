import { CHUNK_ROWS } from '../stores/run-in-chunks.ts'
import type { Sql } from '../stores/postgres.ts'

/**
 * Deletes old events of anonymous visitors, and anonymous visitors who have not come back, from before a time in epoch
 * ms. It deletes at most `CHUNK_ROWS` of each, so that shipping never waits for long. A save that relied on deleted
 * rows is decided again. Resolves with `more` when there may be more of them.
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

/** Keeps visitors who are active at this moment. The outbox reports exactly the deleted ones to ClickHouse. */
async function forgetStale(sql: Sql, before: number): Promise<number> {
  const [gone] = await sql<[{ count: number }]>`
    with stale as materialized (
      select business_id, visitor_id from visitors
      where contact_id is null and current_contact_id is null and last_seen_at < ${before}
        -- A keyed call may still name it (decisions, "Callers without a secret key").
        and not waits
        -- A contact may have used it between two that were erased.
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
    reported as (
      insert into outbox (events, event_count, business_ids, contact_ids, changed, visitor_business_ids, visitor_ids,
        visitor_forgotten)
      select '', 0, '{}', '{}', '{}', array_agg(business_id), array_agg(visitor_id), array_agg(revision + 1)
      from gone having count(*) > 0
    )
    select count(*)::int as count from gone`
  return gone.count
}
