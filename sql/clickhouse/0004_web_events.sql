-- What browsers captured by themselves, as the web workers write it. Analysts read the views below (docs/analytics.md).

-- One row per hit. A browser that is not sure sends a hit again: the one that was received first stays, the others go when
-- parts are merged, so that the truth is `final`. How long rows are kept is set by the workers (WEB_EVENTS_KEEP).
create table if not exists web_events (
  business_id UUID,
  visitor_id String,
  -- Made by the browser.
  hit_id String,
  kind LowCardinality(String),
  -- The page view that it belongs to.
  page_id String,
  -- By the clock of the front door, whatever the browser's says.
  occurred_ms Int64,
  received_ms Int64,
  url String,
  -- Of a page view; empty when there is none.
  title String,
  referrer String,
  -- Of a scroll: 25, 50, 75 or 100 per cent.
  depth UInt8,
  -- Of a time: since the one before, first active and then idle.
  active_ms Int64,
  idle_ms Int64,
  -- The greatest wins.
  precedence Int64 materialized -received_ms
) engine = ReplacingMergeTree(precedence)
order by (business_id, visitor_id, hit_id)
settings non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

-- Reads what `web_events` reads and keeps nothing: tells which line of a refused insert is at fault.
create table if not exists web_events_check as web_events engine = Null;

-- Each hit once, with the contact whose browser it was (null: nobody's yet). A time lies where it began.
create or replace view web_hits as
select
  h.business_id as business_id,
  h.visitor_id as visitor_id,
  coalesce(r.survivor_id, h.linked_to) as contact_id,
  h.hit_id as hit_id,
  h.kind as kind,
  h.page_id as page_id,
  fromUnixTimestamp64Milli(h.occurred_ms, 'UTC') as occurred_at,
  h.url as url,
  domain(h.url) as host,
  -- An app's routes in the fragment are pages of their own.
  concat(path(h.url), replaceRegexpOne(extract(fragment(h.url), '^!?/[^?]*'), '^(.)', '#\\1')) as path,
  h.title as title,
  h.referrer as referrer,
  h.depth as depth,
  h.active_ms as active_ms,
  h.idle_ms as idle_ms,
  h.occurred_ms as occurred_ms,
  if(h.kind = 'time', h.occurred_ms - h.active_ms - h.idle_ms, h.occurred_ms) as start_ms,
  if(h.kind = 'time', h.occurred_ms - h.idle_ms, h.occurred_ms) as end_ms,
  -- From when on the browser was that contact's.
  h.linked_ms as linked_ms
from (
  select
    e.*,
    if(ifNull(l.visitor_id, '') = '' or l.erased = 1, null, l.contact_id) as linked_to,
    ifNull(l.from_ms, 0) as linked_ms
  from (select * from web_events final) as e
  asof left join (select * from visitor_links final) as l
    on l.business_id = e.business_id and l.visitor_id = e.visitor_id and e.occurred_ms >= l.from_ms
) as h
left join (select * from contact_redirects final) as r
  on r.business_id = h.business_id and r.contact_id = h.linked_to
where ifNull(r.erased, 0) = 0;

-- One row per page view, with what is known of it so far.
create or replace view web_page_views as
select
  business_id,
  visitor_id,
  page_id,
  tupleElement(argMinIf(tuple(contact_id), (occurred_ms, hit_id), kind = 'page_view'), 1) as contact_id,
  fromUnixTimestamp64Milli(minIf(occurred_ms, kind = 'page_view'), 'UTC') as viewed_at,
  argMinIf(url, (occurred_ms, hit_id), kind = 'page_view') as url,
  argMinIf(host, (occurred_ms, hit_id), kind = 'page_view') as host,
  argMinIf(path, (occurred_ms, hit_id), kind = 'page_view') as path,
  argMinIf(title, (occurred_ms, hit_id), kind = 'page_view') as title,
  argMinIf(referrer, (occurred_ms, hit_id), kind = 'page_view') as referrer,
  sum(active_ms) as active_ms,
  sum(idle_ms) as idle_ms,
  max(depth) as depth
from web_hits
group by business_id, visitor_id, page_id
having countIf(kind = 'page_view') > 0;

-- One row per session: what one browser did without a pause of 30 minutes, and as one person's. It is worked out when it is
-- read, so that the order in which hits arrive does not matter.
create or replace view web_sessions as
select
  business_id,
  visitor_id,
  any(contact_id) as contact_id,
  fromUnixTimestamp64Milli(min(start_ms), 'UTC') as started_at,
  fromUnixTimestamp64Milli(max(end_ms), 'UTC') as ended_at,
  uniqExactIf(page_id, kind = 'page_view') as pages,
  -- Without a page view, somebody came back to a page that was open.
  if(pages > 0, argMinIf(url, (occurred_ms, hit_id), kind = 'page_view'), argMin(url, (start_ms, hit_id))) as entry_url,
  if(pages > 0, argMaxIf(url, (occurred_ms, hit_id), kind = 'page_view'), argMax(url, (start_ms, hit_id))) as exit_url,
  sum(active_ms) as active_ms,
  sum(idle_ms) as idle_ms,
  argMinIf(referrer, (occurred_ms, hit_id), kind = 'page_view') as referrer,
  decodeURLFormComponent(extractURLParameter(entry_url, 'utm_source')) as utm_source,
  decodeURLFormComponent(extractURLParameter(entry_url, 'utm_medium')) as utm_medium,
  decodeURLFormComponent(extractURLParameter(entry_url, 'utm_campaign')) as utm_campaign,
  decodeURLFormComponent(extractURLParameter(entry_url, 'utm_term')) as utm_term,
  decodeURLFormComponent(extractURLParameter(entry_url, 'utm_content')) as utm_content,
  decodeURLFormComponent(extractURLParameter(entry_url, 'utm_id')) as utm_id
from (
  select *, sum(begins) over (
    partition by business_id, visitor_id, linked_ms order by start_ms, hit_id
    rows between unbounded preceding and current row
  ) as session
  from (
    select *, start_ms - max(end_ms) over (
      partition by business_id, visitor_id, linked_ms order by start_ms, hit_id
      rows between unbounded preceding and 1 preceding
    ) >= 1800000 as begins
    from web_hits
  )
)
group by business_id, visitor_id, linked_ms, session;
