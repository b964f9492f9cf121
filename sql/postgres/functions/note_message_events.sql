-- Marks messages for which an open or a click was recorded.
--   p_message_events  [{ business_id, message_id, event }]
create or replace function note_message_events(p_message_events json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  noted record;
begin
  for noted in
    select business_id, message_id, bool_or(event = 'email_opened') as opened, bool_or(event = 'email_clicked') as clicked
    from json_to_recordset(p_message_events) as x (business_id uuid, message_id uuid, event text)
    group by business_id, message_id
    order by business_id, message_id
  loop
    update messages m set opened = m.opened or noted.opened, clicked = m.clicked or noted.clicked
    where m.business_id = noted.business_id and m.id = noted.message_id
      and (noted.opened > m.opened or noted.clicked > m.clicked);
  end loop;
end
$$;
