-- The number of partitions can be changed while everything runs (stream/change-partitions.ts).
alter table partitioning
  -- Grows whenever there is something new here for front doors. Every append says which version it was routed by, and
  -- Redis refuses those from before a partition was closed.
  add column version bigint not null default 1,
  -- The kinds (live, backfill) that take nothing now.
  add column closed text[] not null default '{}',
  -- A change under way: to which number, and until when it holds unless it is renewed.
  add column change_to integer,
  add column change_until timestamptz,
  -- No partition that is made begins below these: what an older Redis, or an owner of one of that name, still has of it
  -- lies before.
  add column position_floor text not null default '0-0',
  add column epoch_floor bigint not null default 0;

-- A partition that was made just now is not missed yet by those who look after workers.
alter table positions add column made_at timestamptz not null default '-infinity';
