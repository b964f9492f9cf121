-- Updates browsers whose touches have changed: the first touch and the newest 200 stay, `visitors` shows the first and
-- the latest of them, and the outbox gets a row.
--   p_visitors  [{ business_id, visitor_id }], with their rows locked by the caller
create or replace function settle_touches(p_visitors json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  delete from visitor_touches k
  using (
    select t.business_id, t.visitor_id, t.digest, t.at,
      row_number() over (partition by t.business_id, t.visitor_id order by t.at desc, t.digest desc) as from_newest,
      row_number() over (partition by t.business_id, t.visitor_id order by t.at, t.digest) as from_first
    from json_to_recordset(p_visitors) as x (business_id uuid, visitor_id text)
    join visitor_touches t on t.business_id = x.business_id and t.visitor_id = x.visitor_id collate "C"
  ) ranked
  where from_newest > 200 and from_first > 1 and k.business_id = ranked.business_id
    and k.visitor_id = ranked.visitor_id collate "C" and k.digest = ranked.digest and k.at = ranked.at;

  with settled as (
    update visitors v set
      first_touch = (
        select t.touch || jsonb_build_object('at', t.at) from visitor_touches t
        where t.business_id = v.business_id and t.visitor_id = v.visitor_id order by t.at, t.digest limit 1
      ),
      latest_touch = (
        select t.touch || jsonb_build_object('at', t.at) from visitor_touches t
        where t.business_id = v.business_id and t.visitor_id = v.visitor_id
          and t.touch ?| '{referrer,utm,clickIds}' order by t.at desc, t.digest desc limit 1
      ),
      revision = nextval('visitor_revisions')
    from json_to_recordset(p_visitors) as x (business_id uuid, visitor_id text)
    where v.business_id = x.business_id and v.visitor_id = x.visitor_id collate "C"
    returning v.business_id, v.visitor_id
  )
  insert into outbox (events, event_count, business_ids, contact_ids, changed, visitor_business_ids, visitor_ids, visitor_touched)
    select '', 0, '{}', '{}', '{}', array_agg(business_id), array_agg(visitor_id), array_agg(true)
    from settled having count(*) > 0;
end
$$;
