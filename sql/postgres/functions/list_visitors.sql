-- Adds visitors to the lists of their contacts.
--   p_listed  [{ business_id, contact_id, visitor_id, linked_at, keyed, waits }]; a pair may occur more than once
create or replace function list_visitors(p_listed json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  insert into contact_visitors as c (business_id, contact_id, visitor_id, linked_at, keyed, waits)
    select business_id, contact_id, visitor_id, min(linked_at), bool_or(keyed), bool_and(waits)
    from json_to_recordset(p_listed) as x (business_id uuid, contact_id uuid, visitor_id text, linked_at bigint,
      keyed boolean, waits boolean)
    group by business_id, contact_id, visitor_id
  on conflict (business_id, visitor_id, contact_id) do update set
    keyed = c.keyed or excluded.keyed, waits = c.waits and excluded.waits;
end
$$;
