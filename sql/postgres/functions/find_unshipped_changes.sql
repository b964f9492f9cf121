-- Returns the unshipped changes of a segment in the outbox, as JSON lines (src/outbox/segment-change-row.ts), at most
-- p_most. It always reads the unshipped rows through their partial index: a plan that was made during a large backlog
-- would scan the whole outbox.
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
