-- The views that analysts read (docs/analytics.md), in the database that CLICKHOUSE_URL names. Analysts need no rights on the
-- tables, because each view reads them as the user who created it. The comments on the columns are shown by analysts' tools.

create or replace view {public}.contacts (
  business_id UUID comment 'The business: name it in every query',
  contact_id UUID comment 'The id that the API answers',
  created_at DateTime64(3, 'UTC') comment 'When we first heard of them',
  first_name Nullable(String) comment 'First name',
  last_name Nullable(String) comment 'Last name',
  emails Array(String) comment 'The primary one first: emails[1], empty text when there is none. Those that only pages have sent come last',
  phones Array(String) comment 'Likewise. + and E.164 digits when the number could be read, else its digits',
  platform_customer_ids Array(String) comment 'Your own id of the person: one, or none',
  country Nullable(String) comment 'As it was sent',
  city Nullable(String) comment 'As it was sent',
  language Nullable(String) comment 'BCP 47 tag',
  timezone Nullable(String) comment 'IANA name',
  stage LowCardinality(String) comment 'Awareness, Consideration, Decision, Retention or Advocacy',
  tags Array(String) comment 'has(tags, \'vip\')',
  custom_fields String comment 'JSON object: JSONExtractString(custom_fields, \'plan\'). A field that is not set, or was cleared, is absent',
  order_count Int64 comment 'How many orders',
  revenue Map(LowCardinality(String), Decimal(38, 6)) comment 'By currency: revenue[\'USD\'], 0 when there was none',
  subscribed Array(LowCardinality(String)) comment 'The channels that they opted into: email, sms, whatsapp, push'
) sql security definer as
select business_id, contact_id, created_at, first_name, last_name, emails, phones, platform_customer_ids, country,
  city, language, timezone, stage, tags, custom_fields, order_count, revenue, subscribed
from contacts
comment 'One row per person, as they are now';

create or replace view {public}.contact_event_statistics (
  business_id UUID comment 'The business: name it in every query',
  contact_id UUID comment 'The person',
  event LowCardinality(String) comment 'The name, exactly as sent',
  first_at DateTime64(3, 'UTC') comment 'When it first happened',
  last_at DateTime64(3, 'UTC') comment 'When it last happened',
  count UInt64 comment 'How many times: at least 1',
  first_ms Int64 comment 'first_at, exact',
  last_ms Int64 comment 'last_at, exact'
) sql security definer as
select business_id, contact_id, event, first_at, last_at, count, first_ms, last_ms
from contact_event_statistics
comment 'One row per person and event name';

create or replace view {public}.timeline (
  business_id UUID comment 'The business: name it in every query',
  contact_id UUID comment 'The person',
  event_id UUID comment 'Its id',
  event LowCardinality(String) comment 'The name, exactly as sent',
  occurred_at DateTime64(3, 'UTC') comment 'When it happened',
  received_at DateTime64(3, 'UTC') comment 'When it reached us',
  type LowCardinality(String) comment 'What it meant: purchase, refund, booking, lead, checkout_started, fulfilled, cancelled or none',
  value Nullable(Float64) comment 'The amount as sent',
  currency LowCardinality(Nullable(String)) comment 'The currency counted in',
  counted_revenue Decimal(38, 6) comment 'What it added to the revenue',
  is_order UInt8 comment '1 for an order',
  properties String comment 'JSON object; empty when none was sent',
  source LowCardinality(String) comment 'live, batch or browser',
  idempotency_key Nullable(String) comment 'As it was sent',
  visitor_id Nullable(String) comment 'The browser',
  occurred_ms Int64 comment 'occurred_at, exact'
) sql security definer as
select business_id, contact_id, event_id, event, occurred_at, received_at, type, value, currency, counted_revenue,
  is_order, properties, source, idempotency_key, visitor_id, occurred_ms
from timeline
comment 'One row per recorded event';

create or replace view {public}.revenue_by_day (
  business_id UUID comment 'The business: name it in every query',
  day Date32 comment 'UTC day on which it happened',
  currency LowCardinality(String) comment 'Empty for orders that came without an amount',
  revenue Decimal(38, 6) comment 'Purchases less refunds',
  purchased Decimal(38, 6) comment 'Without refunds',
  refunded Decimal(38, 6) comment 'A positive number',
  orders UInt64 comment 'How many'
) sql security definer as
select business_id, day, currency, revenue, purchased, refunded, orders
from revenue_by_day
comment 'One row per day and currency';

create or replace view {public}.attributed_purchases (
  business_id UUID comment 'The business: name it in every query',
  contact_id UUID comment 'The person',
  event_id UUID comment 'Its id',
  event LowCardinality(String) comment 'The name, exactly as sent',
  occurred_at DateTime64(3, 'UTC') comment 'When it happened',
  type LowCardinality(String) comment 'purchase or refund',
  currency LowCardinality(String) comment 'Empty for orders that came without an amount',
  amount Decimal(38, 6) comment 'What it added to the revenue: a refund is negative',
  is_order UInt8 comment '1 for an order',
  first_at Nullable(DateTime64(3, 'UTC')) comment 'The earliest touch at or before it; null when there was none',
  first_channel String comment 'Channel of the earliest touch; unknown when there was none',
  first_source String comment 'Source of the earliest touch',
  first_medium String comment 'Medium of the earliest touch',
  first_campaign String comment 'Campaign of the earliest touch',
  first_referrer String comment 'Referrer of the earliest touch',
  first_landing_url String comment 'Landing page of the earliest touch',
  first_click_id String comment 'Kind of click id of the earliest touch',
  last_at Nullable(DateTime64(3, 'UTC')) comment 'The latest touch at or before it',
  last_channel String comment 'Channel of the latest touch; unknown when there was none',
  last_source String comment 'Source of the latest touch',
  last_medium String comment 'Medium of the latest touch',
  last_campaign String comment 'Campaign of the latest touch',
  last_referrer String comment 'Referrer of the latest touch',
  last_landing_url String comment 'Landing page of the latest touch',
  last_click_id String comment 'Kind of click id of the latest touch',
  occurred_ms Int64 comment 'occurred_at, exact'
) sql security definer as
select business_id, contact_id, event_id, event, occurred_at, type, currency, amount, is_order, first_at,
  first_channel, first_source, first_medium, first_campaign, first_referrer, first_landing_url, first_click_id,
  last_at, last_channel, last_source, last_medium, last_campaign, last_referrer, last_landing_url, last_click_id,
  occurred_ms
from attributed_purchases
comment 'One row per order, amount or refund';

create or replace view {public}.attribution_by_day (
  business_id UUID comment 'The business: name it in every query',
  model String comment 'first or last: say which, or you count all twice',
  day Date32 comment 'UTC day of the order or refund',
  channel String comment 'As of a touch',
  source String comment 'As of a touch',
  medium String comment 'As of a touch',
  campaign String comment 'As of a touch',
  currency LowCardinality(String) comment 'Empty for orders that came without an amount',
  revenue Decimal(38, 6) comment 'Purchases less refunds',
  refunded Decimal(38, 6) comment 'A positive number',
  orders UInt64 comment 'How many',
  buyers UInt64 comment 'People who bought; those of two days may be the same'
) sql security definer as
select business_id, model, day, channel, source, medium, campaign, currency, revenue, refunded, orders, buyers
from attribution_by_day
comment 'One row per day, model, source and currency';

create or replace view {public}.touches (
  business_id UUID comment 'The business: name it in every query',
  visitor_id String comment 'The browser',
  contact_id Nullable(UUID) comment 'The contact it belonged to then; null while none is known',
  touched_at DateTime64(3, 'UTC') comment 'When it was',
  channel String comment 'What kind of source: paid_search, email, direct, …',
  source String comment 'utm_source; when that was not said, the host of the referrer',
  medium String comment 'utm_medium; empty when it was not said',
  campaign String comment 'utm_campaign',
  term String comment 'utm_term',
  content String comment 'utm_content',
  utm_id String comment 'utm_id',
  referrer String comment 'The page of another site',
  landing_url String comment 'The landing page',
  click_id String comment 'Kind of click id that an ad left: gclid, gbraid, wbraid, msclkid, ttclid or fbclid',
  at_ms Int64 comment 'touched_at as epoch milliseconds'
) sql security definer as
select business_id, visitor_id, contact_id, touched_at, channel, source, medium, campaign, term, content, utm_id,
  referrer, landing_url, click_id, at_ms
from touches
comment 'One row per time that something brought a browser';

create or replace view {public}.contact_engagement (
  business_id UUID comment 'The business: name it in every query',
  contact_id UUID comment 'The person',
  score UInt8 comment '0 to 100',
  last_active_at DateTime64(3, 'UTC') comment 'The last event, page view or active time',
  last_active_ms Int64 comment 'last_active_at, exact'
) sql security definer as
select business_id, contact_id, score, last_active_at, last_active_ms
from contact_engagement
comment 'One row per person who did anything';

create or replace view {public}.web_page_views (
  business_id UUID comment 'The business: name it in every query',
  visitor_id String comment 'The browser',
  page_id String comment 'The page view',
  contact_id Nullable(UUID) comment 'Null while no contact is known',
  viewed_at DateTime64(3, 'UTC') comment 'When it began',
  url String comment 'Address of the page',
  host String comment 'As in the address, without port, name and password: shop.example, localhost, [::1]',
  path String comment 'With the route of an app that keeps it in the fragment: /#/cart',
  title String comment 'Title of the page',
  referrer String comment 'Of another site; empty when there was none',
  active_ms Int64 comment 'How long it was looked at, with a sign of life in the last 30 seconds',
  idle_ms Int64 comment 'How long it was open and seen without one',
  depth UInt8 comment 'How far it was scrolled, in per cent: 0, 25, 50, 75 or 100'
) sql security definer as
select business_id, visitor_id, page_id, contact_id, viewed_at, url, host, path, title, referrer, active_ms, idle_ms,
  depth
from web_page_views
comment 'One row per page that was looked at';

create or replace view {public}.web_sessions (
  business_id UUID comment 'The business: name it in every query',
  visitor_id String comment 'The browser',
  contact_id Nullable(UUID) comment 'Null while no contact is known',
  started_at DateTime64(3, 'UTC') comment 'When it began',
  ended_at DateTime64(3, 'UTC') comment 'The last sign of life',
  pages UInt64 comment 'Page views; 0 when the browser came back to a page that was still open',
  entry_url String comment 'First page',
  exit_url String comment 'Last page',
  active_ms Int64 comment 'How long it was active, milliseconds',
  idle_ms Int64 comment 'How long it was open without a sign of life, milliseconds',
  referrer String comment 'Of the first page',
  utm_source String comment 'utm_source of the first page',
  utm_medium String comment 'utm_medium of the first page',
  utm_campaign String comment 'utm_campaign of the first page',
  utm_term String comment 'utm_term of the first page',
  utm_content String comment 'utm_content of the first page',
  utm_id String comment 'utm_id of the first page'
) sql security definer as
select business_id, visitor_id, contact_id, started_at, ended_at, pages, entry_url, exit_url, active_ms, idle_ms,
  referrer, utm_source, utm_medium, utm_campaign, utm_term, utm_content, utm_id
from web_sessions
comment 'One row per visit of a browser';

create or replace view {public}.web_hits (
  business_id UUID comment 'The business: name it in every query',
  visitor_id String comment 'The browser',
  contact_id Nullable(UUID) comment 'Null while no contact is known',
  hit_id String comment 'Made by the browser',
  kind LowCardinality(String) comment 'page_view, scroll or time',
  page_id String comment 'The page view that it belongs to',
  occurred_at DateTime64(3, 'UTC') comment 'When it happened',
  url String comment 'Address of the page',
  host String comment 'Host of the page',
  path String comment 'Path of the page, with the route of an app that keeps it in the fragment',
  title String comment 'Of a page view',
  referrer String comment 'Of a page view: page of another site',
  depth UInt8 comment 'Of a scroll',
  active_ms Int64 comment 'Of a time: active milliseconds since the one before',
  idle_ms Int64 comment 'Of a time: idle milliseconds, after the active ones',
  occurred_ms Int64 comment 'occurred_at as epoch milliseconds',
  start_ms Int64 comment 'When it began: a time is reported at its end',
  end_ms Int64 comment 'Its last sign of life',
  linked_ms Int64 comment 'From when on the browser was that person\'s; 0 for the first one\'s'
) sql security definer as
select business_id, visitor_id, contact_id, hit_id, kind, page_id, occurred_at, url, host, path, title, referrer,
  depth, active_ms, idle_ms, occurred_ms, start_ms, end_ms, linked_ms
from web_hits
comment 'One row per thing that a browser captured';
