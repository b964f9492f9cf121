-- What analysts read (docs/analytics.md). All of it speaks of surviving contacts: what belonged to a merged id belongs to
-- its survivor, and an erased person is in none of it.
--
-- An instant as a date saturates at the ends of DateTime64 (years 1900 and 2299); the `_ms` column beside it is exact.

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
  country,
  city,
  language,
  timezone,
  stage,
  tags,
  custom_fields,
  order_count,
  revenue
from contact_snapshots final
where merged_into is null and erased = 0;

-- An order without an amount has no currency: it counts under ''.
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
