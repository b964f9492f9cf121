-- Browsers, known or not: when they were seen, how they came, whose they are, and what they did while they were nobody's.

-- One sequence for all: a visitor that was erased and comes back is newer than what ClickHouse had of it.
create sequence visitor_revisions;

alter table visitors
  -- The first contact that identified the browser; null while nobody has.
  alter column contact_id drop not null,
  alter column linked_at drop not null,
  -- The last that identified it: what follows is theirs.
  add column current_contact_id uuid,
  -- Epoch ms of what the browser itself reported.
  add column first_seen_at bigint,
  add column last_seen_at bigint,
  -- { at (epoch ms), url, referrer, utm, clickIds }
  add column first_touch jsonb,
  add column latest_touch jsonb,
  -- Raised by every change; orders the snapshots sent to ClickHouse.
  add column revision bigint not null default nextval('visitor_revisions'),
  set (fillfactor = 80);
create index visitors_by_current_contact on visitors (business_id, current_contact_id) where current_contact_id is not null;
-- Those that are forgotten once they stay away.
create index visitors_of_nobody on visitors (last_seen_at) where contact_id is null and current_contact_id is null;

-- Whose a browser was from when on. The first has `from_at` 0: what came before anybody was known is the first one's.
create table visitor_links (
  business_id uuid not null,
  visitor_id text collate "C" not null,
  from_at bigint not null,
  contact_id uuid not null,
  primary key (business_id, visitor_id, from_at)
);
create index visitor_links_by_contact on visitor_links (business_id, contact_id) where contact_id is not null;

insert into visitor_links (business_id, visitor_id, from_at, contact_id)
  select business_id, visitor_id, 0, contact_id from visitors;
insert into visitor_links (business_id, visitor_id, from_at, contact_id)
  select l.business_id, l.visitor_id, l.linked_at, l.contact_id
  from contact_visitors l join visitors v using (business_id, visitor_id)
  where l.contact_id <> v.contact_id
  order by l.linked_at, l.contact_id
  on conflict do nothing;
update visitors v set current_contact_id = (
  select l.contact_id from visitor_links l
  where l.business_id = v.business_id and l.visitor_id = v.visitor_id order by l.from_at desc limit 1
);

-- What visitors did while they were nobody's, until somebody identifies them (save_changes) or it is too old.
create table visitor_events (
  business_id uuid not null,
  visitor_id text collate "C" not null,
  event_id uuid not null,
  event text collate "C" not null,
  occurred_at bigint not null,
  received_at bigint not null,
  -- The row of the timeline, but for whose it is (timeline/outbox-row.ts).
  line text not null,
  primary key (business_id, visitor_id, event_id)
);
create index visitor_events_by_age on visitor_events (received_at);

-- Null: the event was nobody's when it was recorded.
alter table idempotency_keys alter column contact_id drop not null;

-- The visitors that changed, as parallel lists; `visitor_linked`: whose they are is news as well.
alter table outbox
  add column visitor_business_ids uuid[] not null default '{}',
  add column visitor_ids text[] not null default '{}',
  add column visitor_linked boolean[] not null default '{}';
insert into outbox (events, event_count, business_ids, contact_ids, changed, visitor_business_ids, visitor_ids, visitor_linked)
  select '', 0, '{}', '{}', '{}', array_agg(business_id), array_agg(visitor_id), array_agg(true)
  from (select business_id, visitor_id, row_number() over (order by business_id, visitor_id) / 5000 as part from visitors) v
  group by part;

-- The browsers that were the erased person's alone: what ClickHouse has of them up to that revision goes with the person.
alter table erasures
  add column visitor_ids text[] not null default '{}',
  add column visitor_revision bigint;

-- It takes more arguments now.
do $$
declare
  former regprocedure;
begin
  -- Every form that there ever was.
  for former in select oid::regprocedure from pg_proc where proname = 'save_changes' loop
    execute 'drop function ' || former;
  end loop;
end
$$;
