-- Ends a change of the number of partitions in one transaction: sets the new number, writes its rows in `positions`,
-- and opens all kinds.
--   p_last_ids   the last id of every partition's stream, which was seen empty behind its fence
--   p_positions  the committed positions when they were seen empty
-- Returns the number of positions that were before the last id of their empty stream. Returns null, and writes nothing,
-- when the change no longer has the version p_version, or when a position is lower than it was: a failover has lost
-- commits, and what they applied waits again.
create or replace function switch_partitions(p_version bigint, p_last_ids json, p_positions json) returns integer
language plpgsql
as $$
declare
  wanted integer;
  passed integer;
begin
  select change_to into wanted from partitioning
    where version = p_version and closed @> '{live,backfill,web}' for update;
  if not found or exists (select from positions where p_last_ids -> partition is null) then
    return null;
  end if;

  -- In the same order as all other statements that lock several.
  perform from positions order by partition for update;
  if exists (
    select from json_each_text(p_positions) as seen (partition, position)
    left join positions p on p.partition = seen.partition
    where string_to_array(coalesce(p.position, '0-0'), '-')::numeric[] < string_to_array(seen.position, '-')::numeric[]
  ) then
    return null;
  end if;
  -- Entries that are gone without having been applied (deleted by hand, or newer than a restored backup of Postgres)
  -- are not waited for.
  update positions p set position = seen.last_id
    from json_each_text(p_last_ids) as seen (partition, last_id)
    where p.partition = seen.partition
      and string_to_array(p.position, '-')::numeric[] < string_to_array(seen.last_id, '-')::numeric[];
  get diagnostics passed = row_count;

  -- Owners kept their caches of contacts up to date because each business belonged to one partition only. They start
  -- again, each with its share of the present businesses. A save of entries that Redis has since lost is either written
  -- by now, or never will be.
  update positions set epoch = epoch + 1, pending = null, pending_at = null, owner = null, lease_until = '-infinity', made_at = now();

  update partitioning set
    partitions = wanted, version = version + 1, closed = '{}', change_to = null, change_until = null,
    position_floor = (
      select id from (select position from positions union all select position_floor) as reached (id)
      order by string_to_array(id, '-')::numeric[] desc limit 1
    ),
    epoch_floor = greatest(epoch_floor, (select max(epoch) from positions));
  delete from positions where split_part(partition, '-', 2)::integer >= wanted;
  insert into positions (partition, epoch, position, made_at)
    select kind || '-' || n, epoch_floor, position_floor, now()
    from partitioning, unnest('{live,backfill,web}'::text[]) as kind, generate_series(0, wanted - 1) as n
    on conflict do nothing;
  return passed;
end
$$;
