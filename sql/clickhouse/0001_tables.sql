-- The tables that the shipper and the web workers write, in a database of their own. Analysts do not read them: they read the views
-- of 0004_public_views.sql. These tables also hold contacts that have been merged into others since, and their shape may change.
--
-- The tables that are written in groups keep the tokens of their last 10,000 inserts, so that a group that is sent again changes
-- nothing. This holds also after a kill in the middle of an insert, when the table was written and its materialized view was not.
-- The tables are not partitioned, because one insert may span centuries. An insert is on disk before it is acknowledged.
--
-- A row is rewritten each time ClickHouse merges small parts into a larger one. It merges ten parts of a size here, not five
-- (merge_selector_base): each row is rewritten less often, and a query reads a few more parts. ClickHouse does not sync a merged
-- part to disk at once, so the parts that it replaces stay for as long as a ClickHouse server keeps them by default
-- (old_parts_lifetime). The embedded engine would delete them within half a minute.

-- One row: the id of this installation, as in Postgres (sql/postgres/0001_installation.sql).
create table if not exists installation (
  id UUID comment 'Its id',
  created_ms Int64 comment 'When it was created, epoch milliseconds'
) engine = MergeTree
order by id
settings fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 480
comment 'The installation that this database belongs to';

-- Instants start in year 1, before the range of any DateTime64, so they are kept in milliseconds. The key is in the order in which
-- the timeline of one contact is read.
create table if not exists events (
  business_id UUID comment 'The business',
  contact_id UUID comment 'The contact it was recorded for, which may have been merged since',
  event_id UUID comment 'Its id',
  event LowCardinality(String) comment 'The name, exactly as sent',
  occurred_ms Int64 comment 'When it happened, epoch milliseconds',
  received_ms Int64 comment 'When it was received, epoch milliseconds',
  type LowCardinality(String) comment 'What it means, or none',
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

-- Accepts what `events` accepts and keeps nothing. Finds the line at fault when an insert is refused.
create table if not exists events_check as events engine = Null comment 'Accepts what events accepts, and keeps nothing';

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

-- Of an erased contact only the id is left, with a revision above that of any snapshot that may still arrive.
create table if not exists contact_snapshots (
  business_id UUID comment 'The business',
  contact_id UUID comment 'The contact',
  revision Int64 comment 'The highest wins, whatever the order of arrival',
  erased UInt8 comment '1: the person was erased, and nothing but the id is left',
  merged_into Nullable(UUID) comment 'The last survivor, when this contact was merged away',
  created_ms Int64 comment 'When it was created, epoch milliseconds',
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
  platform_customer_ids Array(String) comment 'One, or none',
  subscribed Array(LowCardinality(String)) comment 'The channels that the contact opted into',
  date_fields Map(LowCardinality(String), Int64) comment 'The custom fields that are dates, in epoch milliseconds'
) engine = ReplacingMergeTree(revision)
order by (business_id, contact_id)
settings non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  merge_selector_base = 10, old_parts_lifetime = 480
comment 'The present state of each contact';

-- A table of its own, and small, so that every view can join it.
create table if not exists contact_redirects (
  business_id UUID comment 'The business',
  contact_id UUID comment 'The id that was merged into another or erased',
  revision Int64 comment 'The highest wins, whatever the order of arrival',
  survivor_id Nullable(UUID) comment 'The contact it was merged into',
  erased UInt8 comment '1: the person was erased'
) engine = ReplacingMergeTree(revision)
order by (business_id, contact_id)
settings non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  old_parts_lifetime = 480
comment 'The ids that were merged into another or erased';

create materialized view if not exists contact_redirects_feed to contact_redirects as
select business_id, contact_id, revision, merged_into as survivor_id, erased
from contact_snapshots
where merged_into is not null or erased = 1
comment 'Feeds contact_redirects from contact_snapshots';

-- Browsers, as the shipper sends them. A value that was not sent is an empty text. The views find the contact through
-- `contact_redirects`.
create table if not exists visitor_links (
  business_id UUID comment 'The business',
  visitor_id String comment 'The browser',
  from_ms Int64 comment 'From when on, epoch milliseconds; 0: also what happened before the first identification',
  contact_id UUID comment 'The contact it belonged to, which may have been merged since',
  revision Int64 comment 'The highest wins, whatever the order of arrival',
  erased UInt8 comment '1: it belongs to no contact from then on'
) engine = ReplacingMergeTree(revision)
order by (business_id, visitor_id, from_ms)
settings fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 480
comment 'The contact that a browser belonged to, and from when on';

create table if not exists visitors (
  business_id UUID comment 'The business',
  visitor_id String comment 'The browser',
  revision Int64 comment 'The highest wins, whatever the order of arrival',
  erased UInt8 comment '1: the browser was forgotten, and nothing but the id is left',
  first_seen_ms Nullable(Int64) comment 'Null while no page with the tag has reported it',
  last_seen_ms Nullable(Int64) comment 'Null while no page with the tag has reported it',
  first_at_ms Nullable(Int64) comment 'When the first touch was; null while unknown',
  first_url String comment 'Landing page of the first touch',
  first_referrer String comment 'Page of another site of the first touch',
  first_source String comment 'utm_source of the first touch',
  first_medium String comment 'utm_medium of the first touch',
  first_campaign String comment 'utm_campaign of the first touch',
  first_term String comment 'utm_term of the first touch',
  first_content String comment 'utm_content of the first touch',
  first_utm_id String comment 'utm_id of the first touch',
  first_gclid String comment 'Click id gclid of the first touch',
  first_gbraid String comment 'Click id gbraid of the first touch',
  first_wbraid String comment 'Click id wbraid of the first touch',
  first_fbclid String comment 'Click id fbclid of the first touch',
  first_msclkid String comment 'Click id msclkid of the first touch',
  first_ttclid String comment 'Click id ttclid of the first touch',
  latest_at_ms Nullable(Int64) comment 'When the latest touch was; null while unknown',
  latest_url String comment 'Landing page of the latest touch',
  latest_referrer String comment 'Page of another site of the latest touch',
  latest_source String comment 'utm_source of the latest touch',
  latest_medium String comment 'utm_medium of the latest touch',
  latest_campaign String comment 'utm_campaign of the latest touch',
  latest_term String comment 'utm_term of the latest touch',
  latest_content String comment 'utm_content of the latest touch',
  latest_utm_id String comment 'utm_id of the latest touch',
  latest_gclid String comment 'Click id gclid of the latest touch',
  latest_gbraid String comment 'Click id gbraid of the latest touch',
  latest_wbraid String comment 'Click id wbraid of the latest touch',
  latest_fbclid String comment 'Click id fbclid of the latest touch',
  latest_msclkid String comment 'Click id msclkid of the latest touch',
  latest_ttclid String comment 'Click id ttclid of the latest touch'
) engine = ReplacingMergeTree(revision)
order by (business_id, visitor_id)
settings fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 480
comment 'When a browser was seen, and what brought it: the first touch and the latest';

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

-- A browser sends a hit again when it got no answer. The copy that was received first wins, and merges delete the others: read the
-- table with `final`. The workers set how long rows are kept (WEB_EVENTS_KEEP).
create table if not exists web_events (
  business_id UUID comment 'The business',
  visitor_id String comment 'The browser',
  hit_id String comment 'Chosen by the browser',
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

-- Accepts what `web_events` accepts and keeps nothing.
create table if not exists web_events_check as web_events engine = Null comment 'Accepts what web_events accepts, and keeps nothing';

-- An erased person's changes stay, so that the figures add up: the views show them without the contact.
create table if not exists segment_changes (
  business_id UUID comment 'The business',
  segment_id UUID comment 'The segment',
  contact_id UUID comment 'The contact it happened to, which may have been merged or erased since',
  change_id UUID comment 'Its id, a UUID of version 7',
  at_ms Int64 comment 'When it happened, epoch milliseconds',
  entered UInt8 comment '1: the contact entered; 0: it left',
  cause LowCardinality(String) comment 'live, time, bulk, rule, merge or erasure'
) engine = MergeTree
order by (business_id, segment_id, at_ms, change_id)
settings non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  merge_selector_base = 10, old_parts_lifetime = 480
comment 'One row per entry into a segment, or exit from one';

create table if not exists segment_definitions (
  business_id UUID comment 'The business',
  segment_id UUID comment 'The segment',
  revision Int64 comment 'The highest wins, whatever the order of arrival',
  deleted UInt8 comment '1: the segment was deleted, and nothing but the id is left',
  name String comment 'Its name',
  rule String comment 'JSON text of its rule',
  version Int32 comment 'Goes up with each change of the rule',
  fingerprint String comment 'Differs between definitions that differ'
) engine = ReplacingMergeTree(revision)
order by (business_id, segment_id)
settings fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 480
comment 'The present definition of each segment';
