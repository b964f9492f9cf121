-- Which process ships the outbox to ClickHouse.

create table timeline_lease (
  only_row boolean primary key default true check (only_row),
  owner uuid,
  lease_until timestamptz not null default '-infinity'
) with (fillfactor = 50);
insert into timeline_lease default values;

-- The groups under way: few, and found without walking through what waits behind them.
create index outbox_under_way on outbox (group_id) where shipped_at is null and group_id is not null;
