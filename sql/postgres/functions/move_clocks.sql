-- Sets when time may next change the segments of contacts. Every writer has asserted the contact's version, and raises it.
--   p_clocks  [{ business_id, contact_id, due_at, settled_at, bulk_facts }]
create or replace function move_clocks(p_clocks json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  insert into segment_clock as c (business_id, contact_id, due_at, settled_at, bulk_facts)
    select business_id, contact_id, due_at, settled_at, bulk_facts
    from json_to_recordset(p_clocks) as x (business_id uuid, contact_id uuid, due_at bigint, settled_at bigint, bulk_facts text[])
  on conflict (business_id, contact_id) do update set
    due_at = excluded.due_at, settled_at = excluded.settled_at, bulk_facts = excluded.bulk_facts;
end
$$;
