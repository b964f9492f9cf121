-- Sets when time may next change the segments of contacts. Every writer has checked the contact's version, and
-- increases it.
--   p_businesses, p_contacts  the contacts, which the clocks refer to by position
--   p_clocks  place, due_at, settled_at, bulk_facts, changed_at
create or replace function move_clocks(p_businesses uuid[], p_contacts uuid[], p_clocks text[]) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  moved bigint;
begin
  -- The contacts are locked, so their clocks stay where they are.
  update segment_clock k set due_at = x.due_at, settled_at = x.settled_at, bulk_facts = x.bulk_facts,
      changed_at = x.changed_at
    from (
      select held.ctid, x.due_at, x.settled_at, coalesce(x.bulk_facts::text[], '{}') as bulk_facts,
        x.changed_at::json as changed_at
      from unnest(p_clocks[1]::integer[], p_clocks[2]::bigint[], p_clocks[3]::bigint[], p_clocks[4]::text[], p_clocks[5]::text[]
      ) as x (place, due_at, settled_at, bulk_facts, changed_at)
      cross join lateral (
        select k.ctid from segment_clock k where k.business_id = p_businesses[x.place] and k.contact_id = p_contacts[x.place] limit 1
      ) held
      offset 0
    ) x
    where k.ctid = x.ctid;
  get diagnostics moved = row_count;
  if moved < cardinality(p_clocks[1]::integer[]) then
    insert into segment_clock (business_id, contact_id, due_at, settled_at, bulk_facts, changed_at)
      select p_businesses[x.place], p_contacts[x.place], x.due_at, x.settled_at, coalesce(x.bulk_facts::text[], '{}'),
        x.changed_at::json
      from unnest(p_clocks[1]::integer[], p_clocks[2]::bigint[], p_clocks[3]::bigint[], p_clocks[4]::text[], p_clocks[5]::text[]
      ) as x (place, due_at, settled_at, bulk_facts, changed_at)
    on conflict do nothing;
  end if;
end
$$;
