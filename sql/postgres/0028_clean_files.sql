-- Deleted rows stay readable in files until they are cleaned: see src/timeline/clean-files.ts.
create table file_cleaning (
  only_row boolean primary key default true check (only_row),
  -- Erasures that ended before this are cleaned from the files.
  cleaned_until timestamptz not null default '-infinity',
  -- The last run that began. It keeps other processes away for a while.
  started_at timestamptz not null default '-infinity'
) with (fillfactor = 50);
insert into file_cleaning default values;

create index erasures_by_end on erasures (deleted_at) where deleted_at is not null;
