-- Copies opt-outs with an identity that moved to another contact: for an email address those of email, for a phone number those
-- of SMS and WhatsApp.
--   p_merge_log  as save_changes reads it
create or replace function move_opt_outs(p_merge_log json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  insert into subscriptions as kept (business_id, contact_id, channel, subscribed, method, recorded_at)
    select distinct on (taker.id, s.channel) m.business_id, taker.id, s.channel, false, s.method, s.recorded_at
    from json_to_recordset(p_merge_log) as m (business_id uuid, action text, contact_id uuid, losing_id uuid, evidence json)
    cross join lateral (
      select coalesce(c.merged_into, c.id) as id from contacts c
      where c.business_id = m.business_id and c.id = m.contact_id
      limit 1
    ) taker
    cross join lateral (
      select coalesce(c.merged_into, c.id) as id from contacts c
      where c.business_id = m.business_id and c.id = m.losing_id
      limit 1
    ) giver
    cross join lateral (
      select s.channel, s.method, s.recorded_at
      from unnest(case m.evidence -> 0 ->> 'kind' when 'email' then '{email}'::text[] when 'phone' then '{sms,whatsapp}' end)
        as served (channel)
      cross join lateral (
        select o.channel, o.method, o.recorded_at from subscriptions o
        where o.business_id = m.business_id and o.contact_id = giver.id and o.channel = served.channel and not o.subscribed
        limit 1
      ) s
    ) s
    where m.action = 'moved' and giver.id <> taker.id
    order by taker.id, s.channel, s.recorded_at
  on conflict (business_id, contact_id, channel) do update set
    subscribed = false, method = excluded.method, recorded_at = excluded.recorded_at
    where kept.subscribed;
end
$$;
