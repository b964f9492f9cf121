-- Records choices that were made in the past: each is in the history of consent once, whatever the order of arrival.
-- The caller has locked the contacts, and has recorded the choices that are in force now.
--   p_past_choices  [{ business_id, contact_id, channel, subscribed, method, recorded_at }]  recorded_at: epoch ms
create or replace function keep_past_choices(p_past_choices json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  past record;
begin
  for past in
    select business_id, contact_id, channel, subscribed, method, recorded_at
    from json_to_recordset(p_past_choices) as x (business_id uuid, contact_id uuid, channel text, subscribed boolean, method text,
      recorded_at bigint)
    order by business_id, contact_id, recorded_at
  loop
    insert into consent_history (business_id, contact_id, channel, subscribed, method, recorded_at)
      select past.business_id, past.contact_id, past.channel, past.subscribed, past.method, past.recorded_at
      where not exists (
        select from consent_history h
        where h.business_id = past.business_id and h.contact_id = past.contact_id and h.channel = past.channel
          and h.recorded_at = past.recorded_at and h.subscribed = past.subscribed and h.method = past.method
      );
    -- When the same choice arrives twice for the same instant, the method does not depend on the order of arrival.
    update subscriptions s set method = past.method
      where s.business_id = past.business_id and s.contact_id = past.contact_id and s.channel = past.channel
        and s.recorded_at = past.recorded_at and s.subscribed = past.subscribed
        and s.method collate "C" < past.method collate "C";
  end loop;
end
$$;
