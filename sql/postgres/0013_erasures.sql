-- Erased people, and how far each erasure has come.

-- Ids that were erased, so that a repeat of an event does not bring the person back.
create table erasures (
  business_id uuid not null,
  contact_id uuid not null,
  -- The id that the erasure named: the survivor, when this contact had been merged.
  erased_as uuid not null,
  erased_at timestamptz not null default now(),
  -- When the outbox held nothing of the person any more.
  scrubbed_at timestamptz,
  -- When ClickHouse hid the person, and nothing of theirs could arrive there any more.
  hidden_at timestamptz,
  -- When the person's rows were deleted from ClickHouse.
  deleted_at timestamptz,
  -- The browsers that only this person used: what ClickHouse has of them up to `visitor_revision` is deleted. The ids stay here, as
  -- their marks stay in ClickHouse: a backup that is put back may hold them again.
  visitor_ids text[] not null default '{}',
  -- The browsers in which others were identified too: what ClickHouse has of them up to `visitor_revision` can be about the person.
  shared_visitor_ids text[] not null default '{}',
  visitor_revision bigint,
  primary key (business_id, contact_id)
);
create index erasures_to_finish on erasures (business_id) where deleted_at is null;
create index erasures_by_end on erasures (deleted_at) where deleted_at is not null;

-- The times in which an erased person used a browser: nothing that the browser captured then is kept, whenever it arrives.
create table erased_visits (
  business_id uuid not null,
  visitor_id text collate "C" not null,
  -- From this millisecond on, until before `to_at`.
  from_at bigint not null,
  to_at bigint not null,
  -- The batches (`web-0 <last id>`) that were being inserted when the erasure was first seen. Null until then.
  behind text[],
  -- When these rows were deleted from ClickHouse.
  deleted_at timestamptz,
  -- When they were deleted a second time: ClickHouse does not remember what it deleted, and accepts an insert that comes late.
  swept_at timestamptz,
  primary key (business_id, visitor_id, from_at)
);
create index erased_visits_to_finish on erased_visits (business_id) where deleted_at is null;
create index erased_visits_to_sweep on erased_visits (deleted_at) where swept_at is null;

-- One row. Deleted rows can be read from the files of the stores until these are cleaned (src/timeline/clean-files.ts).
create table file_cleaning (
  only_row boolean primary key default true check (only_row),
  -- Erasures that were finished before this have been cleaned from the files.
  cleaned_until timestamptz not null default '-infinity',
  -- The last run that began. It keeps other processes from starting one for a while.
  started_at timestamptz not null default '-infinity'
) with (fillfactor = 50);
insert into file_cleaning default values;
