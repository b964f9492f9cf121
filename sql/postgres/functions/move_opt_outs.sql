-- Copies the opt-outs of identities that moved to another contact, one move after the other, because an opt-out may
-- move on. The rules have decided which ones (src/rules/identity/move-opt-outs.ts).
--   p_merge_log  as in save_changes
create or replace function move_opt_outs(p_merge_log json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  moved record;
begin
  for moved in
    select m.business_id, taker.id as taker, giver.id as giver, served.channel
    from json_to_recordset(p_merge_log) as m (business_id uuid, contact_id uuid, losing_id uuid, opt_outs json)
    cross join lateral json_array_elements_text(m.opt_outs) as served (channel)
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
    where giver.id <> taker.id
  loop
    with copied as (
      insert into subscriptions as kept (business_id, contact_id, channel, subscribed, method, recorded_at)
        select moved.business_id, moved.taker, o.channel, false, o.method, o.recorded_at
        from subscriptions o
        where o.business_id = moved.business_id and o.contact_id = moved.giver and o.channel = moved.channel and not o.subscribed
      on conflict (business_id, contact_id, channel) do update set
        subscribed = false, method = excluded.method, recorded_at = excluded.recorded_at
        where kept.subscribed
      returning business_id, contact_id, channel, subscribed, method, recorded_at
    )
    insert into consent_history (business_id, contact_id, channel, subscribed, method, recorded_at)
      select business_id, contact_id, channel, subscribed, method, recorded_at from copied;
  end loop;
end
$$;
