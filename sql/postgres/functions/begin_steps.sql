-- Inserts the first steps of new enrolments, which are due at once. A step that listens for an event has already had
-- the events dated at or after its beginning, such as the event that started the enrolment. They are recorded here,
-- because later events may have moved last_at past them before the first claim.
--   p_first_steps  [{ business_id, enrolment_id, contact_id, campaign_id, version, step, listens_for, began_at,
--                  event_name, event_properties, event_at }]
create or replace function begin_steps(p_first_steps json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  first record;
begin
  for first in
    select * from json_to_recordset(p_first_steps) as x (business_id uuid, enrolment_id uuid, contact_id uuid, campaign_id uuid,
      version integer, step text, listens_for text, began_at bigint, event_name text, event_properties text,
      event_at bigint)
  loop
    insert into due_steps (business_id, enrolment_id, contact_id, campaign_id, version, step, listens_for, awaited_at, began_at, due_at)
      values (first.business_id, first.enrolment_id, first.contact_id, first.campaign_id, first.version, first.step,
        first.listens_for,
        (select case when s.first_at >= first.began_at then s.first_at when s.last_at >= first.began_at then s.last_at end
          from event_statistics s
          where s.business_id = first.business_id and s.contact_id = first.contact_id
            and s.event = first.listens_for collate "C"),
        first.began_at, first.began_at);
    if first.event_name is not null then
      update enrolments e set event_name = first.event_name, event_properties = first.event_properties,
          event_at = first.event_at
        where e.business_id = first.business_id and e.contact_id = first.contact_id and e.id = first.enrolment_id;
    end if;
  end loop;
end
$$;
