-- Events that steps wait for: such a step is due at the instant of the first event that is dated at or after its beginning.
--   p_heard  [{ business_id, contact_id, event, first_at, last_at }]  times in epoch ms
create or replace function hear_events(p_heard json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  heard record;
begin
  for heard in
    select business_id, contact_id, event, first_at, last_at
    from json_to_recordset(p_heard) as x (business_id uuid, contact_id uuid, event text, first_at bigint, last_at bigint)
    order by business_id, contact_id
  loop
    update due_steps d set
      heard_at = least(d.heard_at, case when heard.first_at >= d.began_at then heard.first_at else heard.last_at end),
      due_at = least(d.due_at, case when heard.first_at >= d.began_at then heard.first_at else heard.last_at end)
    where d.business_id = heard.business_id and d.contact_id = heard.contact_id
      and d.listens_for = heard.event collate "C" and d.began_at <= heard.last_at;
  end loop;
end
$$;
