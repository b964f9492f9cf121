-- Records the last times of goals whose events meet conditions. Of a contact and a goal, the newest 1,000 keys stay.
--   p_goal_times  [{ business_id, contact_id, campaign_id, key, last_at }]  last_at: epoch ms
create or replace function record_goal_times(p_goal_times json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  reached record;
begin
  for reached in
    select business_id, contact_id, campaign_id, key, last_at
    from json_to_recordset(p_goal_times) as x (business_id uuid, contact_id uuid, campaign_id uuid, key text, last_at bigint)
    order by business_id, contact_id, campaign_id, key collate "C"
  loop
    update goal_times g set last_at = greatest(g.last_at, reached.last_at)
      where g.business_id = reached.business_id and g.contact_id = reached.contact_id
        and g.campaign_id = reached.campaign_id and g.key = reached.key collate "C";
    if not found then
      insert into goal_times (business_id, contact_id, campaign_id, key, last_at)
        values (reached.business_id, reached.contact_id, reached.campaign_id, reached.key, reached.last_at);
      perform keep_goal_times(reached.business_id, reached.contact_id, reached.campaign_id);
    end if;
  end loop;
end
$$;

create or replace function keep_goal_times(p_business uuid, p_contact uuid, p_campaign uuid) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  delete from goal_times g
    where g.business_id = p_business and g.contact_id = p_contact and g.campaign_id = p_campaign and g.key in (
      select o.key from goal_times o
      where o.business_id = p_business and o.contact_id = p_contact and o.campaign_id = p_campaign
      order by o.last_at desc, o.key desc offset 1000
    );
end
$$;
