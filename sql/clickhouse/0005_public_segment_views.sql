-- What analysts read of segments (docs/analytics.md), and views with parameters: cohorts and funnels of events. ClickHouse lists no
-- columns of a view with parameters, so theirs have no comments.

create or replace view {public}.segments (
  business_id UUID comment 'The business: name it in every query',
  segment_id UUID comment 'The id that the API answers',
  name String comment 'Its name',
  rule String comment 'JSON text of its rule, as the API answers it',
  version Int32 comment 'Goes up with each change of the rule'
) sql security definer as
select business_id, segment_id, name, rule, version
from segment_definitions final
where deleted = 0
comment 'One row per segment';

create or replace view {public}.segment_members (
  business_id UUID comment 'The business: name it in every query',
  segment_id UUID comment 'The segment',
  contact_id UUID comment 'The person',
  entered_at DateTime64(3, 'UTC') comment 'When they entered',
  cause LowCardinality(String) comment 'Why they entered: live, time, bulk, rule or merge'
) sql security definer as
select business_id, segment_id, contact_id, entered_at, cause
from segment_members
comment 'One row per segment and person who is in it now';

create or replace view {public}.segment_changes (
  business_id UUID comment 'The business: name it in every query',
  segment_id UUID comment 'The segment',
  contact_id Nullable(UUID) comment 'The person; null for one who was erased',
  change_id UUID comment 'Its id',
  changed_at DateTime64(3, 'UTC') comment 'When it happened',
  change String comment 'entered or left',
  cause LowCardinality(String) comment 'live, time, bulk, rule, merge or erasure',
  changed_ms Int64 comment 'changed_at as epoch milliseconds'
) sql security definer as
select
  c.business_id as business_id,
  c.segment_id as segment_id,
  if(ifNull(r.erased, 0) = 1, null, coalesce(r.survivor_id, c.contact_id)) as contact_id,
  c.change_id as change_id,
  fromUnixTimestamp64Milli(c.at_ms, 'UTC') as changed_at,
  if(c.entered = 1, 'entered', 'left') as change,
  c.cause as cause,
  c.at_ms as changed_ms
from segment_changes as c
left join (select * from contact_redirects final) as r
  on r.business_id = c.business_id and r.contact_id = c.contact_id
comment 'One row per entry into a segment, or exit from one';

create or replace view {public}.segment_counts_by_day (
  business_id UUID comment 'The business: name it in every query',
  segment_id UUID comment 'The segment',
  day Date32 comment 'UTC day, from that of the first change to today',
  entries UInt64 comment 'How many entered on it',
  exits UInt64 comment 'How many left on it',
  members Int64 comment 'How many were in it at its end'
) sql security definer as
select business_id, segment_id, day, entries, exits, members
from segment_counts_by_day
comment 'One row per segment and day';

-- A week begins on Monday, UTC. Weeks are counted from year 1, whose first day was a Monday.
create or replace view {public}.event_retention sql security definer as
with
  {first_event: String} as first_event,
  {return_event: String} as return_event,
  theirs as (
    select
      coalesce(r.survivor_id, e.contact_id) as contact_id,
      e.event as event,
      e.occurred_ms as occurred_ms,
      intDiv(e.occurred_ms + 62135596800000, 604800000) as week_number
    from (
      select contact_id, event, occurred_ms from events
      where business_id = {business_id: UUID}
        and (first_event = '' or return_event = '' or event in (first_event, return_event))
    ) as e
    left join (
      select contact_id, survivor_id, erased from contact_redirects final where business_id = {business_id: UUID}
    ) as r on r.contact_id = e.contact_id
    where ifNull(r.erased, 0) = 0
  ),
  people as (
    select
      contact_id,
      minIf(occurred_ms, first_event = '' or event = first_event) as first_ms,
      intDiv(first_ms + 62135596800000, 604800000) as first_week,
      groupArrayIf(tuple(occurred_ms, week_number), return_event = '' or event = return_event) as returns
    from theirs
    group by contact_id
    having countIf(first_event = '' or event = first_event) > 0
  ),
  -- -1 stands for the person, whether or not they came back.
  weeks as (
    select first_week,
      arrayJoin(arrayConcat([toInt64(-1)], arrayDistinct(arrayMap(one -> toInt64(one.2 - first_week),
        arrayFilter(one -> one.1 >= first_ms, returns))))) as later
    from people
  )
select
  toDate32(toInt32(greatest(-25567, least(120523, first_week * 7 - 719162)))) as cohort,
  toUInt32(later) as week,
  people,
  returned
from (
  select first_week, later, count() as returned,
    max(if(later = -1, returned, 0)) over (partition by first_week) as people
  from weeks
  group by first_week, later
)
where later >= 0
comment 'event_retention(business_id = …, first_event = …, return_event = …): one row per cohort, the people whose first event fell into the same week, and week since then';

create or replace view {public}.event_funnel sql security definer as
with {events: Array(String)} as events
select step, events[step] as event, reached_by[step] as people
from (
  select sumForEach(arrayMap(one -> toUInt64(reached >= one), range(1, 11))) as reached_by
  from (
    select contact_id,
      windowFunnel(toUInt64({window_seconds: UInt32}) * 1000, 'strict_once')(
        toUInt64(occurred_ms + 62135596800000),
        event = events[1], event = events[2], event = events[3], event = events[4], event = events[5],
        event = events[6], event = events[7], event = events[8], event = events[9], event = events[10]
      ) as reached
    from (
      select coalesce(r.survivor_id, e.contact_id) as contact_id, e.event as event, e.occurred_ms as occurred_ms
      from (
        select contact_id, event, occurred_ms from events where business_id = {business_id: UUID} and has(events, event)
      ) as e
      left join (
        select contact_id, survivor_id, erased from contact_redirects final where business_id = {business_id: UUID}
      ) as r on r.contact_id = e.contact_id
      where ifNull(r.erased, 0) = 0
    )
    group by contact_id
  )
)
array join arrayEnumerate(events) as step
where throwIf(length(events) > 10, 'event_funnel takes 10 events at most') = 0
comment 'event_funnel(business_id = …, events = […], window_seconds = …): one row per event, the people who did it after those before it, within so long of the first';
