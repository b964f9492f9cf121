-- Records events that steps wait for: such a step becomes due at the instant of the first event that is dated at or
-- after its beginning.
--   p_awaited_events  [{ business_id, contact_id, event, times }]  times: epoch ms
create or replace function record_awaited_events(p_awaited_events json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  awaited record;
begin
  for awaited in
    select business_id, contact_id, event, times
    from json_to_recordset(p_awaited_events) as x (business_id uuid, contact_id uuid, event text, times bigint[])
    order by business_id, contact_id
  loop
    update due_steps d
      set (awaited_at, due_at) = (
        select least(d.awaited_at, min(t.at)), least(d.due_at, min(t.at)) from unnest(awaited.times) as t (at) where t.at >= d.began_at
      )
    where d.business_id = awaited.business_id and d.contact_id = awaited.contact_id
      and d.listens_for = awaited.event collate "C" and d.began_at <= any (awaited.times);
  end loop;
end
$$;
