-- Called before partitions are acquired and before the outbox is shipped. When Postgres has a new timeline, its last
-- commits may be lost. Then owners start again from the positions of this server, without what they remember, and
-- what waits for ClickHouse is compared with it before it is sent (src/timeline/shipping/claim-resends.ts). Returns true when a
-- failover was noticed.
create or replace function notice_failover() returns boolean
language plpgsql
as $$
declare
  present bigint := wal_timeline();
  known bigint;
begin
  if exists (select from timeline_lease where wal_timeline = present) then
    return false;
  end if;
  select wal_timeline into known from timeline_lease for update;
  if known = present then
    return false;
  end if;
  update timeline_lease set wal_timeline = present;
  if known is null then
    return false;
  end if;
  -- In the same order as all other statements that lock several.
  perform from positions order by partition for update;
  update positions set epoch = greatest(epoch + 1, (present - 1) << 32), owner = null, lease_until = '-infinity';
  update outbox set resend = coalesce(resend, '{}'), group_id = null where shipped_at is null;
  -- ClickHouse may have visitors with higher revisions. The sequence stays odd.
  perform setval('visitor_revisions', last_value + 2000000) from visitor_revisions;
  return true;
end
$$;
