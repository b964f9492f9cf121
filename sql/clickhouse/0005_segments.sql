-- Who entered and left segments, and what the segments are. An erased person's changes stay, so that the figures add up: the views
-- show them without the contact.

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
