-- Returns the timeline of the write-ahead log, which each promotion of a standby raises. Returns 1 where a managed
-- Postgres does not show it: then only positions show that a failover lost commits.
create or replace function wal_timeline() returns bigint
language plpgsql
as $$
begin
  return ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint;
exception when insufficient_privilege or feature_not_supported or undefined_function then
  return 1;
end
$$;
