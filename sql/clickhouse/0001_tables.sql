-- What happened and to whom, as the shipper writes it. Analysts read the views of 0002; these tables also hold what has
-- been merged away since, and may change.
--
-- Every table keeps the tokens of its last 10,000 inserts, so that a group sent again changes nothing, also after a kill
-- in the middle of an insert that left the table written and its view not. There are no partitions: one insert may span
-- centuries. An insert is on the disk before it is acknowledged.

-- One row per recorded event. Instants reach from year 1, further than any DateTime64, so the milliseconds are the truth.
-- The key serves the reading of one person's timeline.
create table if not exists events (
  business_id UUID,
  -- The contact it was recorded for, which may have been merged since.
  contact_id UUID,
  event_id UUID,
  event LowCardinality(String),
  occurred_ms Int64,
  received_ms Int64,
  type LowCardinality(String),
  -- As sent; `counted` is what it added to the revenue, exactly.
  value Nullable(Float64),
  currency LowCardinality(Nullable(String)),
  counted Decimal(38, 6),
  is_order UInt8,
  -- JSON text; empty when none was sent.
  properties String,
  source LowCardinality(String),
  idempotency_key Nullable(String),
  visitor_id Nullable(String)
) engine = MergeTree
order by (business_id, contact_id, occurred_ms, event_id)
settings non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

-- Reads what `events` reads and keeps nothing: tells which line of a refused insert is at fault.
create table if not exists events_check as events engine = Null;

-- First, last and count of each event name per contact, folded further in the background.
create table if not exists event_statistics (
  business_id UUID,
  contact_id UUID,
  event LowCardinality(String),
  first_ms SimpleAggregateFunction(min, Int64),
  last_ms SimpleAggregateFunction(max, Int64),
  count SimpleAggregateFunction(sum, UInt64)
) engine = AggregatingMergeTree
order by (business_id, contact_id, event)
settings non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

create materialized view if not exists event_statistics_feed to event_statistics as
select business_id, contact_id, event, min(occurred_ms) as first_ms, max(occurred_ms) as last_ms, count() as count
from events
group by business_id, contact_id, event;

-- The present state of each contact; the highest revision wins, whatever the order of arrival. An erased contact is its
-- id and nothing else, under a revision that no late snapshot can pass.
create table if not exists contact_snapshots (
  business_id UUID,
  contact_id UUID,
  revision Int64,
  erased UInt8,
  -- The last survivor, when this contact was merged away.
  merged_into Nullable(UUID),
  created_ms Int64,
  first_name Nullable(String),
  last_name Nullable(String),
  country Nullable(String),
  city Nullable(String),
  language Nullable(String),
  timezone Nullable(String),
  stage LowCardinality(String),
  tags Array(String),
  -- JSON text of an object; cleared fields are absent.
  custom_fields String,
  order_count Int64,
  revenue Map(LowCardinality(String), Decimal(38, 6))
) engine = ReplacingMergeTree(revision)
order by (business_id, contact_id)
settings non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

-- The few ids that are not what they were: merged into another, or erased. Small, so that every view can join it.
create table if not exists contact_redirects (
  business_id UUID,
  contact_id UUID,
  revision Int64,
  survivor_id Nullable(UUID),
  erased UInt8
) engine = ReplacingMergeTree(revision)
order by (business_id, contact_id)
settings non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

create materialized view if not exists contact_redirects_feed to contact_redirects as
select business_id, contact_id, revision, merged_into as survivor_id, erased
from contact_snapshots
where merged_into is not null or erased = 1;
