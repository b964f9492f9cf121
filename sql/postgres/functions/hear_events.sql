-- Handles events that steps wait for: such a step becomes due at the instant of the first event that is dated at or
-- after its beginning.
--   p_heard  [{ business_id, contact_id, event, times }]  times: epoch ms
create or replace function hear_events(p_heard json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  heard record;
begin
  for heard in
    select business_id, contact_id, event, times
    from json_to_recordset(p_heard) as x (business_id uuid, contact_id uuid, event text, times bigint[])
    order by business_id, contact_id
  loop
    update due_steps d
      set (heard_at, due_at) = (
        select least(d.heard_at, min(t.at)), least(d.due_at, min(t.at)) from unnest(heard.times) as t (at) where t.at >= d.began_at
      )
    where d.business_id = heard.business_id and d.contact_id = heard.contact_id
      and d.listens_for = heard.event collate "C" and d.began_at <= any (heard.times);
  end loop;
end
$$;
