-- Lets templates read later trigger events, and begins enrolments again that have claimed no message. The contacts are
-- locked. An event that is older than the one that templates read does neither.
--   p_followed  [{ business_id, contact_id, enrolment_id, event_name, event_properties, event_at, step, listens_for,
--               began_at }]  `step`: where it begins again; null: it stays where it is. Epoch ms
create or replace function follow_triggers(p_followed json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  followed record;
begin
  for followed in
    select * from json_to_recordset(p_followed) as x (business_id uuid, contact_id uuid, enrolment_id uuid, event_name text,
      event_properties text, event_at bigint, step text, listens_for text, began_at bigint)
  loop
    update enrolments e set event_name = followed.event_name, event_properties = followed.event_properties,
        event_at = followed.event_at
      where e.business_id = followed.business_id and e.contact_id = followed.contact_id and e.id = followed.enrolment_id
        and e.state = 'active' and followed.event_at >= coalesce(e.event_at, e.enrolled_at);
    if found and followed.step is not null then
      update due_steps d set step = followed.step, began_at = followed.began_at, due_at = followed.began_at,
          listens_for = followed.listens_for, awaited_at = (
            select case when s.first_at >= followed.began_at then s.first_at when s.last_at >= followed.began_at then s.last_at end
            from event_statistics s
            where s.business_id = followed.business_id and s.contact_id = followed.contact_id
              and s.event = followed.listens_for collate "C"
          ), waited = false, attempts = 0, settled = false, held_by = null, asked_outbox_id = null, answers = null
        where d.business_id = followed.business_id and d.enrolment_id = followed.enrolment_id and d.message_id is null
          and not exists (
            select from messages m where m.business_id = d.business_id and m.enrolment_id = d.enrolment_id
          );
    end if;
  end loop;
end
$$;
