-- What belongs to the installation and to no business: its id, and the comparisons of its stores.

-- One row: the id of this installation. `migrate` writes it, and the same one into ClickHouse (sql/clickhouse/0001_tables.sql).
-- A Postgres and a ClickHouse of different installations are refused (src/stores/installation.ts).
create table installation (
  only_row boolean primary key default true check (only_row),
  id uuid not null,
  created_at timestamptz not null
);

-- The comparisons of the stores that operators started in the dashboard. One runs at a time in the whole installation.
create table verify_runs (
  id uuid primary key,
  -- The email of the operator.
  started_by text not null,
  started_at timestamptz not null default now(),
  -- The front door that runs it reports every few seconds. One that does not is gone, and so is its run.
  reported_at timestamptz not null default now(),
  contacts integer not null default 0,
  total_contacts integer not null default 0,
  -- What takes long now; empty while contacts are compared.
  activity text not null default '',
  -- An operator wants it to end.
  is_stopping boolean not null default false,
  ended_at timestamptz,
  -- A summary of what the command reports.
  result jsonb
);
create unique index verify_runs_one_at_a_time on verify_runs ((ended_at is null)) where ended_at is null;
