-- What still has to reach ClickHouse, and which process ships it.

-- One row for each save: the timeline rows that it made, and the contacts and visitors that it changed.
create table outbox (
  id bigint generated always as identity primary key,
  created_at timestamptz not null default now(),
  -- JSON lines, one event each (src/outbox/timeline-row.ts), or those lines packed (src/outbox/pack-events.ts). Empty when there is
  -- none. Not compressed by Postgres: a row is read once or twice, and compressing the events cost more than all other work on it.
  events text not null,
  event_count integer not null,
  -- Of packed events, their size when unpacked. Null: they are not packed.
  unpacked_bytes integer,
  -- The contacts that were touched, as parallel lists. `changed`: the contact has a new state, so a snapshot is sent. The others
  -- only got events.
  business_ids uuid[] not null,
  contact_ids uuid[] not null,
  changed boolean[] not null,
  -- The visitors that changed, as parallel lists.
  visitor_business_ids uuid[] not null default '{}',
  visitor_ids text[] not null default '{}',
  -- The `from_at` of a link of the visitor that is new or has changed, or null. A visitor with several such links is listed once
  -- for each.
  visitor_link_from bigint[] not null default '{}',
  -- The visitor's touches have changed.
  visitor_touched boolean[] not null default '{}',
  -- Of a visitor that was forgotten, the revision that marks it: above all that ClickHouse has of the visitor, and below whatever
  -- comes after. Null for all others, whose present state is sent.
  visitor_forgotten bigint[] not null default '{}',
  -- Null for a row that goes to ClickHouse for the first time. Otherwise ClickHouse is to be corrected (admin verify --repair):
  -- events of the row that are missing are sent again, and the snapshots and statistics of its contacts are made to agree. Empty
  -- until the row's group is stamped; then the ids of the events that this group sends.
  resend uuid[],
  -- The shipper's group. Null until the row is taken.
  group_id uuid,
  shipped_at timestamptz,
  -- The changes of membership in segments that the save made: JSON lines of src/outbox/segment-change-row.ts.
  segment_changes text
) with (fillfactor = 90);
alter table outbox alter column events set storage external;
create index outbox_to_ship on outbox (id) where shipped_at is null;
create index outbox_shipped on outbox (shipped_at) where shipped_at is not null;
-- The groups under way: few, and found without reading what waits behind them.
create index outbox_under_way on outbox (group_id) where shipped_at is null and group_id is not null;
create index outbox_to_resend on outbox (id) where shipped_at is null and group_id is null and resend is not null;
create index outbox_packed on outbox (id) where unpacked_bytes is not null;
create index outbox_segment_changes on outbox (id) where shipped_at is null and segment_changes is not null;

-- One row: the process that ships the outbox.
create table timeline_lease (
  only_row boolean primary key default true check (only_row),
  owner uuid,
  lease_until timestamptz not null default '-infinity',
  -- Why nothing can be shipped now, written by the process that has the lease. Front doors show it in /readyz.
  trouble text,
  trouble_since timestamptz
) with (fillfactor = 50);
insert into timeline_lease default values;
