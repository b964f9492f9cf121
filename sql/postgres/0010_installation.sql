-- One row: the id of this installation. `migrate` writes it, and the same one into ClickHouse (sql/clickhouse/0004_installation.sql).
-- A Postgres and a ClickHouse of different installations are refused (src/stores/installation.ts).
create table installation (
  only_row boolean primary key default true check (only_row),
  id uuid not null,
  created_at timestamptz not null
);
