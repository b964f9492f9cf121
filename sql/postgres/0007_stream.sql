-- The stream: its partitions, how far each has been applied, and what could not be applied.

-- One row: the number of partitions of each kind (live, backfill). It can be changed while everything runs
-- (src/stream/change-partitions.ts).
create table partitioning (
  only_row boolean primary key default true check (only_row),
  partitions integer not null check (partitions > 0),
  -- Goes up with every change that front doors must know. Each append says which version it was routed by, and Redis refuses those
  -- from before a partition was closed.
  version bigint not null default 1,
  -- The kinds (live, backfill) that take nothing now.
  closed text[] not null default '{}',
  -- A change under way: the number wanted, and until when the change holds unless it is renewed.
  change_to integer,
  change_until timestamptz,
  -- A new partition starts at these at least. What an older Redis, or an owner of a former partition of the same name, still has is
  -- below them.
  position_floor text not null default '0-0',
  epoch_floor bigint not null default 0,
  -- The run id of the Redis process that was used last. Another process may have lost what this one knew.
  redis_run text
);

-- One row for each partition (live-0, backfill-0, web-0, …). A save moves `position` from the previous stream id to the new one in
-- the transaction that writes its effects. When no row was moved, nothing is written.
create table positions (
  partition text primary key,
  epoch bigint not null default 0,
  -- The last committed stream id, `<ms>-<seq>`.
  position text not null default '0-0',
  -- When the position last moved. A partition that has work and does not move is stalled.
  moved_at timestamptz not null default now(),
  -- The attempt that moved it. By it, an owner that lost the answer to a commit knows which of its attempts succeeded.
  attempt uuid,
  owner text,
  lease_until timestamptz not null default '-infinity',
  -- A partition that was made a moment ago is not yet reported as without an owner.
  made_at timestamptz not null default '-infinity',
  -- Web partitions only. Web events go from Redis to ClickHouse, and Postgres keeps how far they have come.
  -- The last stream id of the batch that is being inserted into ClickHouse, and since when. It is written before the insert. The
  -- next owner repeats exactly that batch, which changes nothing when ClickHouse has it already.
  pending text,
  pending_at timestamptz,
  -- The businesses that were inactive when the pending batch was stamped. A repeat of the batch leaves out the same ones.
  pending_inactive uuid[] not null default '{}'
) with (fillfactor = 50);

create table dead_letters (
  id uuid primary key,
  -- Null when the entry could not be read that far.
  business_id uuid,
  -- Of an item whose identity led to a contact; for erasure.
  contact_id uuid,
  partition text not null,
  stream_id text not null,
  kind text not null,
  reason text not null,
  -- The request as it was in the stream, with one item.
  payload text not null,
  received_at bigint,
  created_at timestamptz not null default now(),
  -- Set on an item that failed in a search for poisoned items: a hash of the contact that it names
  -- (src/stream/compose-dead-letter.ts). For a while, also after a restart, items of the same business and contact are tried by
  -- themselves first (workers/suspects.ts).
  suspect uuid
);
create index dead_letters_by_business on dead_letters (business_id, created_at);
create index dead_letters_of_suspects on dead_letters (partition, created_at) where suspect is not null;
