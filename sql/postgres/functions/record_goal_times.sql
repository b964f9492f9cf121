-- Records the last times of goals whose events meet conditions. Of a contact and a goal, the newest 1,000 keys stay.
--   p_goal_times  [{ business_id, contact_id, campaign_id, key, last_at }]  last_at: epoch ms
create or replace function record_goal_times(p_goal_times json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  reached record;
  goal record;
begin
  for goal in
    select business_id, contact_id, campaign_id, json_agg(json_build_array(key, last_at) order by key collate "C") as times
    from json_to_recordset(p_goal_times) as x (business_id uuid, contact_id uuid, campaign_id uuid, key text, last_at bigint)
    group by 1, 2, 3 order by 1, 2, 3
  loop
    with written as (
      insert into goal_times as g (business_id, contact_id, campaign_id, key, last_at)
        select goal.business_id, goal.contact_id, goal.campaign_id, t ->> 0, (t ->> 1)::bigint from json_array_elements(goal.times) t
      on conflict (business_id, contact_id, campaign_id, key) do update set last_at = greatest(g.last_at, excluded.last_at)
      returning g.xmax = 0 as is_new
    )
    select bool_or(is_new) as any_new into reached from written;
    if reached.any_new then
      perform keep_goal_times(goal.business_id, goal.contact_id, goal.campaign_id);
    end if;
  end loop;
end
$$;

create or replace function keep_goal_times(p_business uuid, p_contact uuid, p_campaign uuid) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  -- An array, so that the keys are sorted once, and not for each row.
  delete from goal_times g
    where g.business_id = p_business and g.contact_id = p_contact and g.campaign_id = p_campaign and g.key = any (array(
      select o.key from goal_times o
      where o.business_id = p_business and o.contact_id = p_contact and o.campaign_id = p_campaign
      order by o.last_at desc, o.key desc offset 1000
    ));
end
$$;
