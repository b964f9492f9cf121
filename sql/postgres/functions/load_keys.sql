-- Loads what is remembered of the keys that a micro-batch names.
--   p_keys  business_id, contact_id, campaign_id, key
-- Returns [place, was_entered, goal_at] for those with something to remember; `place` starts at 1. An ended enrolment is
-- forgotten once the contact has 10,000 later ones with keys (rules/limits.ts).
create or replace function load_keys(p_keys text[]) returns json
language plpgsql stable
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  return to_json(array(
    select json_build_array(asked.place, coalesce(entered.is_remembered, false), reached.last_at)
    from unnest(p_keys[1]::uuid[], p_keys[2]::uuid[], p_keys[3]::uuid[], p_keys[4]::text[])
      with ordinality as asked (business_id, contact_id, campaign_id, key, place)
    left join lateral (
      select (
        select count(*) from (
          select from only keyed_enrolments later
          where later.business_id = asked.business_id and later.contact_id = asked.contact_id and later.id > e.id
          limit 10000
        ) counted
      ) < 10000 as is_remembered
      from only keyed_enrolments e
      where e.business_id = asked.business_id and e.campaign_id = asked.campaign_id and e.key = asked.key collate "C"
        and e.contact_id = asked.contact_id and e.state <> 'active'
      order by e.id desc limit 1
    ) entered on true
    left join lateral (
      select g.last_at from goal_times g
      where g.business_id = asked.business_id and g.contact_id = asked.contact_id
        and g.campaign_id = asked.campaign_id and g.key = asked.key collate "C"
      limit 1
    ) reached on true
    where entered.is_remembered or reached.last_at is not null
  ));
end
$$;
