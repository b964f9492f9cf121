-- What happened and to whom, as the shipper and the web workers write it, in a database of its own. Analysts read the views of
-- 0003; these tables also hold what has been merged away since, and may change.
--
-- The tables that are fed by groups keep the tokens of their last 10,000 inserts, so that a group sent again changes nothing,
-- also after a kill in the middle of an insert that left the table written and its view not. There are no partitions: one insert
-- may span centuries. An insert is on the disk before it is acknowledged.
--
-- Rows are written again and again as small parts are merged into large ones. Ten of a size become one (merge_selector_base), not
-- five: fewer rounds for each row, for a few parts more to read. When parts become a larger one, that one is not brought to the
-- disk at once: what it replaces stays for as long as a ClickHouse server keeps it by default (old_parts_lifetime); the embedded
-- engine would delete it within half a minute.

-- One row per recorded event. Instants reach from year 1, further than any DateTime64, so the milliseconds are the truth.
-- The key serves the reading of one person's timeline.
create table if not exists events (
  business_id UUID comment 'The business',
  contact_id UUID comment 'The contact it was recorded for, which may have been merged since',
  event_id UUID comment 'Its id',
  event LowCardinality(String) comment 'The name, exactly as sent',
  occurred_ms Int64 comment 'When it happened, epoch milliseconds',
  received_ms Int64 comment 'When it was received, epoch milliseconds',
  type LowCardinality(String) comment 'What it meant, or none',
  value Nullable(Float64) comment 'The amount as sent',
  currency LowCardinality(Nullable(String)) comment 'The currency counted in',
  counted Decimal(38, 6) comment 'What it added to the revenue, exactly',
  is_order UInt8 comment '1 for an order',
  properties String comment 'JSON text; empty when none was sent',
  source LowCardinality(String) comment 'live, batch or browser',
  idempotency_key Nullable(String) comment 'As sent',
  visitor_id Nullable(String) comment 'The browser it came from'
) engine = MergeTree
order by (business_id, contact_id, occurred_ms, event_id)
settings non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  merge_selector_base = 10, old_parts_lifetime = 480
comment 'One row per recorded event';

-- Reads what `events` reads and keeps nothing: tells which line of a refused insert is at fault.
create table if not exists events_check as events engine = Null comment 'Reads what events reads, and keeps nothing';

create table if not exists event_statistics (
  business_id UUID comment 'The business',
  contact_id UUID comment 'The contact it was recorded for, which may have been merged since',
  event LowCardinality(String) comment 'The name, exactly as sent',
  first_ms SimpleAggregateFunction(min, Int64) comment 'When it first happened, epoch milliseconds',
  last_ms SimpleAggregateFunction(max, Int64) comment 'When it last happened, epoch milliseconds',
  count SimpleAggregateFunction(sum, UInt64) comment 'How many times'
) engine = AggregatingMergeTree
order by (business_id, contact_id, event)
settings non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  merge_selector_base = 10, old_parts_lifetime = 480
comment 'First, last and count of each event name per contact, folded further in the background';

create materialized view if not exists event_statistics_feed to event_statistics as
select business_id, contact_id, event, min(occurred_ms) as first_ms, max(occurred_ms) as last_ms, count() as count
from events
group by business_id, contact_id, event
comment 'Feeds event_statistics from events';

-- An erased contact is its id and nothing else, under a revision that no late snapshot can pass.
create table if not exists contact_snapshots (
  business_id UUID comment 'The business',
  contact_id UUID comment 'The contact',
  revision Int64 comment 'The highest wins, whatever the order of arrival',
  erased UInt8 comment '1: the person was erased, and nothing but the id is left',
  merged_into Nullable(UUID) comment 'The last survivor, when this contact was merged away',
  created_ms Int64 comment 'When it was made, epoch milliseconds',
  first_name Nullable(String) comment 'First name',
  last_name Nullable(String) comment 'Last name',
  country Nullable(String) comment 'As it was sent',
  city Nullable(String) comment 'As it was sent',
  language Nullable(String) comment 'BCP 47 tag',
  timezone Nullable(String) comment 'IANA name',
  stage LowCardinality(String) comment 'The stage of the journey',
  tags Array(String) comment 'In the order in which they came',
  custom_fields String comment 'JSON text of an object; cleared fields are absent',
  order_count Int64 comment 'How many orders',
  revenue Map(LowCardinality(String), Decimal(38, 6)) comment 'By currency',
  emails Array(String) comment 'The primary one first',
  phones Array(String) comment 'The primary one first',
  platform_customer_ids Array(String) comment 'One, or none'
) engine = ReplacingMergeTree(revision)
order by (business_id, contact_id)
settings non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  merge_selector_base = 10, old_parts_lifetime = 480
comment 'The present state of each contact';

-- Small, so that every view can join it.
create table if not exists contact_redirects (
  business_id UUID comment 'The business',
  contact_id UUID comment 'The id that is not what it was',
  revision Int64 comment 'The highest wins, whatever the order of arrival',
  survivor_id Nullable(UUID) comment 'Whom it was merged into',
  erased UInt8 comment '1: the person was erased'
) engine = ReplacingMergeTree(revision)
order by (business_id, contact_id)
settings non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  old_parts_lifetime = 480
comment 'The few ids that are not what they were: merged into another, or erased';

create materialized view if not exists contact_redirects_feed to contact_redirects as
select business_id, contact_id, revision, merged_into as survivor_id, erased
from contact_snapshots
where merged_into is not null or erased = 1
comment 'Feeds contact_redirects from contact_snapshots';

-- Browsers, as the shipper sends them. Empty text is what was not said. All are joined with people through `contact_redirects`.
create table if not exists visitor_links (
  business_id UUID comment 'The business',
  visitor_id String comment 'The browser',
  from_ms Int64 comment 'From when on, epoch milliseconds; 0: before anybody was known',
  contact_id UUID comment 'Whose it was, as of then: the contact may have been merged since',
  revision Int64 comment 'The highest wins, whatever the order of arrival',
  erased UInt8 comment '1: nobody\'s, from then on'
) engine = ReplacingMergeTree(revision)
order by (business_id, visitor_id, from_ms)
settings fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 480
comment 'Whose a browser was, and from when on';

create table if not exists visitors (
  business_id UUID comment 'The business',
  visitor_id String comment 'The browser',
  revision Int64 comment 'The highest wins, whatever the order of arrival',
  erased UInt8 comment '1: the browser was forgotten, and nothing but the id is left',
  first_seen_ms Nullable(Int64) comment 'Null while no page with the tag has reported it',
  last_seen_ms Nullable(Int64) comment 'Null while no page with the tag has reported it',
  first_at_ms Nullable(Int64) comment 'When: of what first brought it; null while unknown',
  first_url String comment 'Landing page, of what first brought it',
  first_referrer String comment 'Page of another site, of what first brought it',
  first_source String comment 'utm_source, of what first brought it',
  first_medium String comment 'utm_medium, of what first brought it',
  first_campaign String comment 'utm_campaign, of what first brought it',
  first_term String comment 'utm_term, of what first brought it',
  first_content String comment 'utm_content, of what first brought it',
  first_utm_id String comment 'utm_id, of what first brought it',
  first_gclid String comment 'Click id gclid, of what first brought it',
  first_gbraid String comment 'Click id gbraid, of what first brought it',
  first_wbraid String comment 'Click id wbraid, of what first brought it',
  first_fbclid String comment 'Click id fbclid, of what first brought it',
  first_msclkid String comment 'Click id msclkid, of what first brought it',
  first_ttclid String comment 'Click id ttclid, of what first brought it',
  latest_at_ms Nullable(Int64) comment 'When: of what brought it latest; null while unknown',
  latest_url String comment 'Landing page, of what brought it latest',
  latest_referrer String comment 'Page of another site, of what brought it latest',
  latest_source String comment 'utm_source, of what brought it latest',
  latest_medium String comment 'utm_medium, of what brought it latest',
  latest_campaign String comment 'utm_campaign, of what brought it latest',
  latest_term String comment 'utm_term, of what brought it latest',
  latest_content String comment 'utm_content, of what brought it latest',
  latest_utm_id String comment 'utm_id, of what brought it latest',
  latest_gclid String comment 'Click id gclid, of what brought it latest',
  latest_gbraid String comment 'Click id gbraid, of what brought it latest',
  latest_wbraid String comment 'Click id wbraid, of what brought it latest',
  latest_fbclid String comment 'Click id fbclid, of what brought it latest',
  latest_msclkid String comment 'Click id msclkid, of what brought it latest',
  latest_ttclid String comment 'Click id ttclid, of what brought it latest'
) engine = ReplacingMergeTree(revision)
order by (business_id, visitor_id)
settings fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 480
comment 'When a browser was seen, and how it came: the first time, and the latest time that something brought it';

create table if not exists visitor_touches (
  business_id UUID comment 'The business',
  visitor_id String comment 'The browser',
  revision Int64 comment 'The highest wins, whatever the order of arrival',
  erased UInt8 comment '1: the browser was forgotten',
  at_ms Array(Int64) comment 'When each was, epoch milliseconds, oldest first',
  url Array(String) comment 'Landing page, beside at_ms',
  referrer Array(String) comment 'Page of another site, beside at_ms',
  source Array(String) comment 'utm_source, beside at_ms',
  medium Array(String) comment 'utm_medium, beside at_ms',
  campaign Array(String) comment 'utm_campaign, beside at_ms',
  term Array(String) comment 'utm_term, beside at_ms',
  content Array(String) comment 'utm_content, beside at_ms',
  utm_id Array(String) comment 'utm_id, beside at_ms',
  gclid Array(String) comment 'Click id gclid, beside at_ms',
  gbraid Array(String) comment 'Click id gbraid, beside at_ms',
  wbraid Array(String) comment 'Click id wbraid, beside at_ms',
  fbclid Array(String) comment 'Click id fbclid, beside at_ms',
  msclkid Array(String) comment 'Click id msclkid, beside at_ms',
  ttclid Array(String) comment 'Click id ttclid, beside at_ms'
) engine = ReplacingMergeTree(revision)
order by (business_id, visitor_id)
settings fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 480
comment 'All touches of a browser';

-- A browser that is not sure sends a hit again: the one that was received first stays, the others go when parts are merged, so
-- that the truth is `final`. How long rows are kept is set by the workers (WEB_EVENTS_KEEP).
create table if not exists web_events (
  business_id UUID comment 'The business',
  visitor_id String comment 'The browser',
  hit_id String comment 'Made by the browser',
  kind LowCardinality(String) comment 'page_view, scroll or time',
  page_id String comment 'The page view that it belongs to',
  occurred_ms Int64 comment 'By the clock of the front door, whatever the browser\'s says',
  received_ms Int64 comment 'When it was received, epoch milliseconds',
  url String comment 'Address of the page',
  title String comment 'Of a page view; empty when there is none',
  referrer String comment 'Of a page view; empty when there is none',
  depth UInt8 comment 'Of a scroll: 25, 50, 75 or 100 per cent',
  active_ms Int64 comment 'Of a time: active milliseconds since the one before',
  idle_ms Int64 comment 'Of a time: idle milliseconds, after the active ones',
  precedence Int64 materialized -received_ms comment 'The greatest wins'
) engine = ReplacingMergeTree(precedence)
order by (business_id, visitor_id, hit_id)
settings non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  old_parts_lifetime = 480
comment 'One row per hit that a browser captured';

-- Reads what `web_events` reads and keeps nothing.
create table if not exists web_events_check as web_events engine = Null comment 'Reads what web_events reads, and keeps nothing';
