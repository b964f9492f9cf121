-- The changes of a segment that the outbox holds unshipped, as JSON lines (src/outbox/segment-change-row.ts), p_most at most. It always
-- reads the unshipped rows by their partial index: a plan made while a backlog was large would read the whole outbox.
create or replace function find_unshipped_changes(p_segment uuid, p_most integer) returns setof text
language plpgsql stable
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  return query
    select line from (
      select o.segment_changes as lines from outbox o
      where o.shipped_at is null and o.segment_changes is not null and position(p_segment::text in o.segment_changes) > 0
      offset 0
    ) found
    cross join lateral string_to_table(found.lines, E'\n') as line
    where position(p_segment::text in line) > 0
    limit p_most;
end
$$;
