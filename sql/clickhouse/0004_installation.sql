-- One row: the id of this installation, as in Postgres (sql/postgres/0010_installation.sql).
create table if not exists installation (
  id UUID comment 'Its id',
  created_ms Int64 comment 'When it was created, epoch milliseconds'
) engine = MergeTree
order by id
settings fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 480
comment 'The installation that this database belongs to';
