-- Web events go from Redis to ClickHouse; Postgres keeps how far they have come.
alter table positions
  -- Of a web partition: the last id of the batch that is on its way to ClickHouse, and since when. It is written before the
  -- insert, so that whoever comes next repeats exactly that batch, which changes nothing if it is there already.
  add column pending text,
  add column pending_at timestamptz;

-- The times in which an erased person used a browser: nothing that it captured then is kept, whenever it arrives.
create table erased_visits (
  business_id uuid not null,
  visitor_id text collate "C" not null,
  -- From this millisecond on, and before that one.
  from_at bigint not null,
  to_at bigint not null,
  -- The batches ('web-0 <last id>') that were on their way when the erasure was first seen; null until then.
  behind text[],
  -- When ClickHouse had been rid of them.
  deleted_at timestamptz,
  primary key (business_id, visitor_id, from_at)
);
create index erased_visits_to_finish on erased_visits (business_id) where deleted_at is null;
