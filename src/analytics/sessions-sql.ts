/**
 * The sessions of the view `web_sessions` and the page views of `web_page_views`, as charts read them. The table of
 * hits is in the order of browsers: the hits of one browser are collected and divided, one browser after the other, in
 * little memory. The views sort all hits.
 */
import type { Period } from './buckets.ts'

/** Milliseconds without activity after which another session begins. */
const PAUSE_MS = 1_800_000

const IS_VIEW = `kind = 'page_view'`
const START = `if(kind = 'time', occurred_ms - active_ms - idle_ms, occurred_ms)`
const END = `if(kind = 'time', occurred_ms - idle_ms, occurred_ms)`

/** By browser: since when it belonged to a contact, and whether that person was erased since. */
const LINKS = `select visitor_id, arraySort(groupArray(tuple(from_ms, is_hidden))) as links
from (
  select link.visitor_id as visitor_id, link.from_ms as from_ms, link.erased = 0 and ifNull(redirect.erased, 0) = 1 as is_hidden
  from (select visitor_id, from_ms, contact_id, erased from visitor_links final where business_id = {business: UUID}) as link
  left join (
    select contact_id, erased from contact_redirects final where business_id = {business: UUID}
  ) as redirect on redirect.contact_id = link.contact_id
)
group by visitor_id`

/** Positions in the tuple of a hit; the last two are empty when no chart needs them. */
const fieldsOf = (hasAddresses: boolean): string =>
  [
    'occurred_ms',
    START,
    'hit_id',
    END,
    IS_VIEW,
    'page_id',
    'active_ms',
    'depth',
    ...(hasAddresses ? ['url', 'referrer'] : [`''`, `''`]),
  ].join(', ')

/**
 * One row per browser: its `hits` by time and, for each hit in `owners`, since when the browser belonged to its owner
 * and whether the owner is hidden. Hits and links are sorted together: a search among the links for each hit would copy
 * all of them each time.
 */
const browsersSql = (hasAddresses: boolean): string => `select visitor_id, hits,
  arrayMap(border -> tuple(border.3, border.4),
    arrayFilter((owner, border) -> border.2 = 1, arrayFill(border -> border.2 = 0, borders), borders)) as owners
from (
  select browser.visitor_id as visitor_id, arraySort(one -> one.1, browser.hits) as hits,
    arraySort(arrayConcat(arrayMap(link -> tuple(link.1, 0, link.1, link.2), link.links),
      arrayMap(one -> tuple(one.1, 1, toInt64(0), 0), browser.hits))) as borders
  from (
    select visitor_id, groupArray(tuple(${fieldsOf(hasAddresses)})) as hits
    from web_events final where business_id = {business: UUID}
    group by visitor_id
  ) as browser
  left join (${LINKS}) as link on link.visitor_id = browser.visitor_id
)`

interface HitsQuery extends Period {
  /** Whether to select addresses and referrers, too. */
  hasAddresses: boolean
}

/**
 * Returns a query that selects `visitor_id`, `at_ms`, `active_ms`, `depth` and `url` of the pages that were viewed in
 * the period.
 */
export function viewsSql({ from, to, hasAddresses }: HitsQuery): string {
  return `select visitor_id, arrayFilter(one -> one.5, page) as viewed, viewed[1].1 as at_ms, viewed[1].9 as url,
  arraySum(one -> one.7, page) as active_ms, arrayMax(one -> one.8, page) as depth
from (
  select visitor_id, arrayJoin(arraySplit((one, last) -> one.6 != last, seen,
    arrayPushFront(arrayPopBack(arrayMap(one -> one.6, seen)), ''))) as page
  from (
    select visitor_id, arraySort(one -> tuple(one.6, one.1, one.3), arrayFilter((one, owner) -> owner.2 = 0, hits, owners)) as seen
    from (${browsersSql(hasAddresses)})
    where notEmpty(seen)
  )
)
where notEmpty(viewed) and at_ms >= ${from} and at_ms < ${to}`
}

/**
 * Returns a query that selects `visitor_id`, `at_ms`, `active_ms`, `is_bounce` (at most one page), `entry_url`,
 * `exit_url` and `referrer` of the sessions that began in the period. A hit begins a session if no earlier hit,
 * extended by the pause, lasts until then.
 */
export function sessionsSql({ from, to, hasAddresses }: HitsQuery): string {
  return `select visitor_id, session[1].2 as at_ms, arraySum(one -> one.7, session) as active_ms,
  arrayFilter(one -> one.5, session) as viewed, length(arrayDistinct(arrayMap(one -> one.6, viewed))) <= 1 as is_bounce,
  if(empty(viewed), session[1].9, viewed[1].9) as entry_url, if(empty(viewed), session[-1].9, viewed[-1].9) as exit_url,
  if(empty(viewed), '', viewed[1].10) as referrer
from (
  select visitor_id, arrayJoin(arraySplit((one, is_first) -> is_first, theirs, begins)) as session
  from (
    select visitor_id, theirs,
      arraySort(arrayConcat(arrayMap(one -> tuple(one.2, toInt8(1)), theirs),
        arrayMap(one -> tuple(one.4 + ${PAUSE_MS}, toInt8(-1)), theirs))) as borders,
      arrayMap(open -> open = 1, arrayFilter((open, border) -> border.2 = 1,
        arrayCumSum(border -> border.2, borders), borders)) as begins
    from (
      select visitor_id, arraySort(one -> tuple(one.2, one.3), part) as theirs
      from (
        select visitor_id, arrayJoin(arraySplit((one, step) -> step != 0, seen, arrayDifference(since))) as part
        from (
          select visitor_id, arrayFilter((one, owner) -> owner.2 = 0, hits, owners) as seen,
            arrayMap(owner -> owner.1, arrayFilter(owner -> owner.2 = 0, owners)) as since
          from (${browsersSql(hasAddresses)})
          where notEmpty(seen)
        )
      )
    )
  )
)
where at_ms >= ${from} and at_ms < ${to}`
}
