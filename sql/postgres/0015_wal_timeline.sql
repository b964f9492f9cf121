-- The timeline of the write-ahead log under which the outbox was last shipped. Each promotion of a standby starts a new one. Under
-- another one, Postgres may lack commits that ClickHouse has, so what waits is checked first (functions/notice_failover.sql).
alter table timeline_lease add column wal_timeline bigint;
