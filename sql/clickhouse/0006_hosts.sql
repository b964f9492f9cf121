-- With the host also where it has no full stop. Each hit once, with the contact whose browser it was (null: nobody's yet). A time lies where it began.
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
  -- domain() knows no host without a full stop, such as localhost.
  extract(h.url, '^[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^/?#]*@)?(\\[[^\\]/?#]*\\]|[^:/?#]*)') as host,
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
