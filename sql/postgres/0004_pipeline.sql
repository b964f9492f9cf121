-- The road's own facts: how far each partition has come, what still has to reach ClickHouse, what could not be applied.

-- One row: how many partitions there are of each kind (live, backfill).
create table partitioning (
  only_row boolean primary key default true check (only_row),
  partitions integer not null check (partitions > 0)
);

-- One row per partition ('live-0', 'backfill-0', …). A save moves `position` from the previous to the new stream id in
-- the same transaction as its effects; no row moved means that nothing is written.
create table positions (
  partition text primary key,
  epoch bigint not null default 0,
  -- The last committed stream id, `<ms>-<seq>`.
  position text not null default '0-0',
  -- The attempt that moved it: tells an owner with a doubtful commit which of its attempts it was.
  attempt uuid,
  owner text,
  lease_until timestamptz not null default '-infinity'
) with (fillfactor = 50);

-- One row per save: the timeline rows it made, the contacts it touched, the merges it did.
create table outbox (
  id bigint generated always as identity primary key,
  created_at timestamptz not null default now(),
  -- JSON lines of timeline rows (see timeline/outbox-row.ts), one event each; '' when there is none.
  events text not null,
  event_count integer not null,
  -- The contacts whose snapshot changed, as parallel lists.
  business_ids uuid[] not null,
  contact_ids uuid[] not null,
  -- The shipper's group; null until taken.
  group_id uuid,
  shipped_at timestamptz
) with (fillfactor = 90);
create index outbox_to_ship on outbox (id) where shipped_at is null;
create index outbox_shipped on outbox (shipped_at) where shipped_at is not null;

create table dead_letters (
  id uuid primary key,
  -- Null when the entry could not be read so far.
  business_id uuid,
  -- Of an item whose identity led to a contact; for erasure.
  contact_id uuid,
  partition text not null,
  stream_id text not null,
  kind text not null,
  reason text not null,
  -- The request as it travelled, with one item.
  payload text not null,
  received_at bigint,
  created_at timestamptz not null default now()
);
create index dead_letters_by_business on dead_letters (business_id, created_at);
