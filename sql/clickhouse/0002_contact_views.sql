-- Views of the tables, by surviving contact: what was recorded for a merged contact belongs to its survivor, and an erased person
-- appears in none of them. Analysts read each view under the same name in the public database (0004_public_views.sql).
--
-- A date is clamped to the range of DateTime64 (years 1900 to 2299). The `_ms` column beside it is exact.

create or replace view timeline as
select
  e.business_id as business_id,
  coalesce(r.survivor_id, e.contact_id) as contact_id,
  e.event_id as event_id,
  e.event as event,
  fromUnixTimestamp64Milli(greatest(-2208988800000, least(e.occurred_ms, 10413791999999)), 'UTC') as occurred_at,
  fromUnixTimestamp64Milli(e.received_ms, 'UTC') as received_at,
  e.type as type,
  e.value as value,
  e.currency as currency,
  e.counted as counted_revenue,
  e.is_order as is_order,
  e.properties as properties,
  e.source as source,
  e.idempotency_key as idempotency_key,
  e.visitor_id as visitor_id,
  e.occurred_ms as occurred_ms
from events as e
left join (select * from contact_redirects final) as r
  on r.business_id = e.business_id and r.contact_id = e.contact_id
where ifNull(r.erased, 0) = 0;

create or replace view contact_event_statistics as
select
  business_id,
  contact_id,
  event,
  fromUnixTimestamp64Milli(greatest(-2208988800000, least(first_ms, 10413791999999)), 'UTC') as first_at,
  fromUnixTimestamp64Milli(greatest(-2208988800000, least(last_ms, 10413791999999)), 'UTC') as last_at,
  count,
  first_ms,
  last_ms
from (
  select
    s.business_id as business_id,
    coalesce(r.survivor_id, s.contact_id) as contact_id,
    s.event as event,
    toInt64(min(s.first_ms)) as first_ms,
    toInt64(max(s.last_ms)) as last_ms,
    sum(s.count) as count
  from event_statistics as s
  left join (select * from contact_redirects final) as r
    on r.business_id = s.business_id and r.contact_id = s.contact_id
  where ifNull(r.erased, 0) = 0
  group by business_id, contact_id, event
);

create or replace view contacts as
select
  business_id,
  contact_id,
  fromUnixTimestamp64Milli(created_ms, 'UTC') as created_at,
  first_name,
  last_name,
  emails,
  phones,
  platform_customer_ids,
  country,
  city,
  language,
  timezone,
  stage,
  tags,
  custom_fields,
  order_count,
  revenue,
  subscribed
from contact_snapshots final
where merged_into is null and erased = 0;

-- An order without an amount has no currency. It counts under ''.
create or replace view revenue_by_day as
select
  business_id,
  toDate32(occurred_at) as day,
  ifNull(currency, '') as currency,
  sum(counted_revenue) as revenue,
  sumIf(counted_revenue, type = 'purchase') as purchased,
  -sumIf(counted_revenue, type = 'refund') as refunded,
  countIf(is_order = 1) as orders
from timeline
where counted_revenue != 0 or is_order = 1
group by business_id, day, currency;

-- Of several changes in one millisecond, the later has the greater id. ClickHouse compares UUIDs by their second half first, so they
-- are compared as text. What is known of the ids of one person is joined last: a merge lets the lost id leave. The changes of a
-- deleted segment stay.
create or replace view segment_members as
select
  business_id,
  segment_id,
  contact_id,
  fromUnixTimestamp64Milli(min(m.entered_ms), 'UTC') as entered_at,
  argMin(m.cause, m.entered_ms) as cause
from (
  select
    c.business_id as business_id,
    c.segment_id as segment_id,
    coalesce(r.survivor_id, c.contact_id) as contact_id,
    c.entered_ms as entered_ms,
    c.cause as cause
  from (
    select
      business_id,
      segment_id,
      contact_id,
      argMax(entered, tuple(at_ms, toString(change_id))) as is_member,
      max(at_ms) as entered_ms,
      argMax(cause, tuple(at_ms, toString(change_id))) as cause
    from segment_changes
    where (business_id, segment_id) not in (
      select business_id, segment_id from segment_definitions final where deleted = 1
    )
    group by business_id, segment_id, contact_id
  ) as c
  left join (select * from contact_redirects final) as r
    on r.business_id = c.business_id and r.contact_id = c.contact_id
  where c.is_member = 1 and ifNull(r.erased, 0) = 0
) as m
group by business_id, segment_id, contact_id;

-- Every UTC day from that of the first change to today.
create or replace view segment_counts_by_day as
select
  business_id,
  segment_id,
  day,
  sum(entered) as entries,
  sum(gone) as exits,
  sum(toInt64(entries) - toInt64(exits)) over (partition by business_id, segment_id order by day) as members
from (
  select business_id, segment_id, toDate32(fromUnixTimestamp64Milli(at_ms, 'UTC')) as day, entered, 1 - entered as gone
  from segment_changes
  union all
  select
    business_id,
    segment_id,
    arrayJoin(arrayMap(n -> first_day + n, range(toUInt32(greatest(0, days))))) as day,
    0 as entered,
    0 as gone
  from (
    select
      business_id,
      segment_id,
      toDate32(fromUnixTimestamp64Milli(min(at_ms), 'UTC')) as first_day,
      dateDiff('day', first_day, toDate32(now64(3, 'UTC'))) + 1 as days
    from segment_changes
    group by business_id, segment_id
  )
)
group by business_id, segment_id, day;
