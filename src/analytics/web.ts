/** Data that browsers captured automatically: visitors, sessions, pages, and their sources. */
import { additionalTableFilters } from '../timeline/reading/table-filters.ts'
import type { Buckets, Period } from './buckets.ts'
import { bucketSql } from './events-sql.ts'
import { shareOf } from './funnel.ts'
import type { ReadRows } from './read-rows.ts'
import { sessionsSql, viewsSql } from './sessions-sql.ts'

export interface WebFigures {
  /** Browsers that viewed a page. */
  visitors: number
  /** Sessions that began in the period. */
  sessions: number
  pageViews: number
  /** Share of sessions with at most one page. */
  bounceRate: number | null
  /** Average active seconds of a session. */
  sessionSeconds: number | null
  /** Average scroll depth of a page view, in per cent. */
  depth: number | null
}

export interface WebTraffic extends WebFigures {
  points: WebFigures[]
}

/** The figures are those of the views `web_page_views` and `web_sessions`. Rejects with QueryFault. */
export async function readTraffic(read: ReadRows, businessId: string, buckets: Buckets): Promise<WebTraffic> {
  const params = { business: businessId }
  const views = await read<{ at: number | null; views: number; visitors: number; scrolled: number }>(
    `select ${AT_BUCKET}, count() as views, uniqExact(visitor_id) as visitors, sum(depth) as scrolled
    from (select visitor_id, depth, ${bucketSql(buckets, 'at_ms')} as bucket from (${viewsSql({ ...buckets, hasAddresses: false })}))
    group by grouping sets ((bucket), ())
    settings ${fenceOf(businessId, buckets)}`,
    params,
  )
  const sessions = await read<{ at: number | null; sessions: number; bounces: number; active: number }>(
    `select ${AT_BUCKET}, count() as sessions, countIf(is_bounce) as bounces, sum(active_ms) as active
    from (select is_bounce, active_ms, ${bucketSql(buckets, 'at_ms')} as bucket from (${sessionsSql({ ...buckets, hasAddresses: false })}))
    group by grouping sets ((bucket), ())
    settings ${fenceOf(businessId, buckets)}`,
    params,
  )
  const viewsAt = new Map(views.map((one) => [one.at, one]))
  const sessionsAt = new Map(sessions.map((one) => [one.at, one]))
  const figuresAt = (at: number | null): WebFigures => {
    const { views: pageViews = 0, visitors = 0, scrolled = 0 } = viewsAt.get(at) ?? {}
    const { sessions: count = 0, bounces = 0, active = 0 } = sessionsAt.get(at) ?? {}
    return {
      visitors,
      sessions: count,
      pageViews,
      bounceRate: shareOf(bounces, count),
      sessionSeconds: shareOf(active / 1000, count),
      depth: shareOf(scrolled, pageViews),
    }
  }
  return { ...figuresAt(null), points: buckets.starts.map(figuresAt) }
}

const AT_BUCKET = 'if(grouping(bucket) = 1, null, bucket) as at'

/** Visitors of the last five minutes. */
const LIVE_MS = 300_000

/**
 * Returns the number of browsers that were active lately. The times of all hits of the business are read, because hits
 * are in the order of browsers; other columns only for browsers with such a hit. Rejects with QueryFault.
 */
export async function readLiveVisitors(read: ReadRows, businessId: string, now: number): Promise<number> {
  const from = now - LIVE_MS
  const fence = fencesOf(businessId, from)
  const lately = `visitor_id in (select visitor_id from web_events where ${fence.web_events})`
  const [row] = await read<{ visitors: number }>(
    `select uniqExact(visitor_id) as visitors from web_hits where business_id = {business: UUID} and end_ms >= ${from} and ${lately}
    settings ${additionalTableFilters({ ...fence, visitor_links: `${fence.visitor_links} and ${lately}` })}`,
    { business: businessId },
  )
  return row?.visitors ?? 0
}

export interface WebPage {
  /** Host and path. */
  page: string
  views: number
  visitors: number
  /** Average active seconds of a view. */
  seconds: number
  /** Average scroll depth of a view, in per cent. */
  depth: number
  /** Sessions that began or ended there. */
  entries: number
  exits: number
}

/** Most viewed first. Rejects with QueryFault. */
export async function readPages(read: ReadRows, businessId: string, period: Period, top: number): Promise<WebPage[]> {
  return await read<WebPage>(
    `select v.page as page, v.views as views, v.visitors as visitors, v.seconds as seconds, v.depth as depth,
      border.entries as entries, border.exits as exits
    from (
      select ${pageSql('url')} as page, sum(entered) as entries, sum(exited) as exits
      from (
        select border.1 as url, sum(border.2) as entered, count() - entered as exited
        from (select arrayJoin([tuple(entry_url, 1), tuple(exit_url, 0)]) as border from (${sessionsSql({ ...period, hasAddresses: true })}))
        group by url
      )
      group by page
    ) as border
    right join (
      select ${pageSql('toLowCardinality(url)')} as page, count() as views, uniqExact(visitor_id) as visitors,
        avg(active_ms) / 1000 as seconds, avg(depth) as depth
      from (${viewsSql({ ...period, hasAddresses: true })})
      group by page
      order by views desc, page
      limit ${top}
    ) as v on v.page = border.page
    order by views desc, page
    settings ${fenceOf(businessId, period)}`,
    { business: businessId },
  )
}

/**
 * Dimensions of sessions: `utm_source` or, without it, the host of the referrer; `utm_campaign`; the host of the
 * referrer.
 */
export const SOURCE_KEYS = ['source', 'campaign', 'referrer'] as const
export type SourceKey = (typeof SOURCE_KEYS)[number]

export interface WebSource {
  /** Null: none. */
  value: string | null
  sessions: number
  visitors: number
  bounceRate: number | null
  sessionSeconds: number | null
}

/** Most sessions first. Rejects with QueryFault. */
export async function readSources(
  read: ReadRows,
  businessId: string,
  { by, top, ...period }: Period & { by: SourceKey; top: number },
): Promise<WebSource[]> {
  const found = await read<{ value: string; sessions: number; visitors: number; bounces: number; active: number }>(
    `select ${SOURCES[by]} as value, count() as sessions, uniqExact(visitor_id) as visitors,
      countIf(is_bounce) as bounces, sum(active_ms) as active
    from (${sessionsSql({ ...period, hasAddresses: true })})
    group by value
    order by sessions desc, value
    limit ${top}
    settings ${fenceOf(businessId, period)}`,
    { business: businessId },
  )
  return found.map(({ value, sessions, visitors, bounces, active }) => ({
    value: value === '' ? null : value,
    sessions,
    visitors,
    bounceRate: shareOf(bounces, sessions),
    sessionSeconds: shareOf(active / 1000, sessions),
  }))
}

const hostSql = (url: string): string =>
  `extract(${url}, '^[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^/?#]*@)?(\\\\[[^\\\\]/?#]*\\\\]|[^:/?#]*)')`

/** The same as the columns `host` and `path` of the view `web_hits`. */
const pageSql = (url: string): string =>
  `concat(${hostSql(url)}, path(${url}), replaceRegexpOne(extract(fragment(${url}), '^!?/[^?]*'), '^(.)', '#\\\\1'))`

/** Computed once for each distinct text, because there are few. */
const REFERRER = `replaceRegexpOne(lower(${hostSql('toLowCardinality(referrer)')}), '^www\\\\.', '')`

const utmSql = (name: string): string =>
  `decodeURLFormComponent(extractURLParameter(toLowCardinality(entry_url), 'utm_${name}'))`

const SOURCES: Record<SourceKey, string> = {
  source: `if(${utmSql('source')} != '', ${utmSql('source')}, ${REFERRER})`,
  campaign: utmSql('campaign'),
  referrer: REFERRER,
}

/** A session that was active a day earlier, without a pause, does not begin in the period. */
const MARGIN_MS = 86_400_000

/** The views read all hits of all businesses. This reads only those of the business from an instant on. */
function fencesOf(businessId: string, from: number) {
  const ours = `business_id = '${businessId}'`
  return { web_events: `${ours} and occurred_ms >= ${from}`, visitor_links: ours, contact_redirects: ours }
}

const fenceOf = (businessId: string, { from }: Period): string =>
  additionalTableFilters(fencesOf(businessId, from - MARGIN_MS))
