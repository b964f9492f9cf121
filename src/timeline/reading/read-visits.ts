import type { ReadDeps } from './read-timeline.ts'
import { READ_TIMEOUTS } from './read-timeline.ts'
import { queryWithRetry } from './query-with-retry.ts'

/**
 * The activity of one browser of a contact without a pause of 30 minutes; the same as a row of the view `web_sessions`.
 */
export interface Visit {
  visitorId: string
  /** ISO 8601 UTC. */
  startedAt: string
  endedAt: string
  pages: number
  entryUrl: string
  exitUrl: string
  activeMs: number
  /** The page of another site; empty when there was none. */
  referrer: string
}

interface VisitsQuery {
  businessId: string
  /** The id of the contact and all ids that were merged into it. */
  contactIds: string[]
  /** The browsers that the contact lists. */
  visitorIds: string[]
  limit: number
  /** `nextCursor` of the previous page; null for the first page. */
  cursor: string | null
}

interface Row {
  visitor_id: string
  started_ms: number
  ended_ms: number
  pages: number
  entry_url: string
  exit_url: string
  active_ms: number
  referrer: string
}

/**
 * Returns one page of the visits of a contact's browsers while they belonged to the contact, newest first. The view
 * computes visits for a whole business. This query reads only the contact's browsers, so it repeats the view's few
 * steps. A test compares the two.
 */
export async function readVisits(
  deps: ReadDeps,
  { businessId, contactIds, visitorIds, limit, cursor }: VisitsQuery,
): Promise<{ visits: Visit[]; nextCursor: string | null } | 'unavailable' | 'invalid_cursor'> {
  const before = cursor === null ? FIRST : readCursor(cursor)
  if (before === null) return 'invalid_cursor'
  const browsers = visitorIds.filter((id) => MADE_ID.test(id))
  if (browsers.length === 0) return { visits: [], nextCursor: null }
  const rows = await queryWithRetry(deps, READ_TIMEOUTS, async (signal) => {
    const result = await deps.clickhouse.query({
      query: SELECT_VISITS,
      query_params: {
        business: businessId,
        contacts: contactIds,
        browsers,
        count: limit + 1,
        ms: before.ms,
        id: before.id,
      },
      format: 'JSONEachRow',
      abort_signal: signal,
    })
    return await result.json<Row>()
  })
  if (rows === undefined) return 'unavailable'
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return { visits: shown.map(toVisit), nextCursor: last === undefined ? null : `${last.started_ms}_${last.visitor_id}` }
}

const SELECT_VISITS = `
  with theirs as (
    select
      e.visitor_id as visitor_id, e.hit_id as hit_id, e.kind as kind, e.page_id as page_id, e.url as url,
      e.referrer as referrer, e.active_ms as active_ms, e.occurred_ms as occurred_ms, l.from_ms as linked_ms,
      if(e.kind = 'time', e.occurred_ms - e.active_ms - e.idle_ms, e.occurred_ms) as start_ms,
      if(e.kind = 'time', e.occurred_ms - e.idle_ms, e.occurred_ms) as end_ms
    from (
      select * from web_events final where business_id = {business: UUID} and visitor_id in {browsers: Array(String)}
    ) as e
    asof join (
      select * from visitor_links final where business_id = {business: UUID} and visitor_id in {browsers: Array(String)}
    ) as l on l.visitor_id = e.visitor_id and e.occurred_ms >= l.from_ms
    where l.erased = 0 and l.contact_id in {contacts: Array(UUID)}
  )
  select
    visitor_id,
    min(start_ms) as started_ms,
    max(end_ms) as ended_ms,
    uniqExactIf(page_id, kind = 'page_view') as pages,
    if(pages > 0, argMinIf(url, (occurred_ms, hit_id), kind = 'page_view'), argMin(url, (start_ms, hit_id))) as entry_url,
    if(pages > 0, argMaxIf(url, (occurred_ms, hit_id), kind = 'page_view'), argMax(url, (start_ms, hit_id))) as exit_url,
    sum(active_ms) as active_ms,
    argMinIf(referrer, (occurred_ms, hit_id), kind = 'page_view') as referrer
  from (
    select *, sum(begins) over (
      partition by visitor_id, linked_ms order by start_ms, hit_id rows between unbounded preceding and current row
    ) as visit
    from (
      select *, start_ms - max(end_ms) over (
        partition by visitor_id, linked_ms order by start_ms, hit_id rows between unbounded preceding and 1 preceding
      ) >= 1800000 as begins
      from theirs
    )
  )
  group by visitor_id, linked_ms, visit
  having started_ms < {ms: Int64} or (started_ms = {ms: Int64} and visitor_id < {id: String})
  order by started_ms desc, visitor_id desc
  limit {count: UInt32}
  settings output_format_json_quote_64bit_integers = 0, max_execution_time = 5, max_memory_usage = 500000000`

function toVisit(row: Row): Visit {
  return {
    visitorId: row.visitor_id,
    startedAt: new Date(row.started_ms).toISOString(),
    endedAt: new Date(row.ended_ms).toISOString(),
    pages: row.pages,
    entryUrl: row.entry_url,
    exitUrl: row.exit_url,
    activeMs: row.active_ms,
    referrer: row.referrer,
  }
}

/** Only browsers with ids that Sluice created capture web events. */
const MADE_ID = /^[\da-f]{32}$/
const FIRST = { ms: 8.64e15, id: '' }
const CURSOR = /^(-?\d{1,16})_([\da-f]{32})$/

function readCursor(cursor: string): typeof FIRST | null {
  const [, ms, id] = CURSOR.exec(cursor) ?? []
  return ms === undefined || id === undefined ? null : { ms: Number(ms), id }
}
