-- Notes that browsers were seen, and how they came.
--   p_sightings  [{ business_id, visitor_id, seen_at, first_touch, latest_touch }]
-- `seen_at` is in epoch ms, or null when it is only to be there; a touch is { at (epoch ms), url, referrer, utm, clickIds } or null. What is told twice, late or in
-- another order makes no difference.
create or replace function see_visitors(p_sightings json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  with seen as (
    select business_id, visitor_id, min(seen_at) as first_at, max(seen_at) as last_at,
      (array_agg(first_touch order by (first_touch ->> 'at')::bigint, first_touch)
        filter (where first_touch is not null))[1] as first_touch,
      (array_agg(latest_touch order by (latest_touch ->> 'at')::bigint desc, latest_touch)
        filter (where latest_touch is not null))[1] as latest_touch
    from json_to_recordset(p_sightings) as x (business_id uuid, visitor_id text, seen_at bigint, first_touch jsonb,
      latest_touch jsonb)
    group by business_id, visitor_id
    -- Sorted: two that see the same ones queue up.
    order by business_id, visitor_id collate "C"
  ),
  written as (
    insert into visitors as v (business_id, visitor_id, first_seen_at, last_seen_at, first_touch, latest_touch)
      select business_id, visitor_id, first_at, last_at, first_touch, latest_touch from seen
    on conflict (business_id, visitor_id) do update set
      first_seen_at = least(v.first_seen_at, excluded.first_seen_at),
      last_seen_at = greatest(v.last_seen_at, excluded.last_seen_at),
      first_touch = case when (excluded.first_touch ->> 'at')::bigint >= (v.first_touch ->> 'at')::bigint
        then v.first_touch else coalesce(excluded.first_touch, v.first_touch) end,
      latest_touch = case when (excluded.latest_touch ->> 'at')::bigint <= (v.latest_touch ->> 'at')::bigint
        then v.latest_touch else coalesce(excluded.latest_touch, v.latest_touch) end,
      revision = nextval('visitor_revisions')
    returning business_id, visitor_id
  )
  insert into outbox (events, event_count, business_ids, contact_ids, changed, visitor_business_ids, visitor_ids, visitor_linked)
    select '', 0, '{}', '{}', '{}', array_agg(business_id), array_agg(visitor_id), array_agg(false)
    from written having count(*) > 0;
end
$$;
