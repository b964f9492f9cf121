-- Records that browsers were seen, and how they came.
--   p_sightings  [{ business_id, visitor_id, seen_at, first_touch, latest_touch }]
-- `seen_at` is in epoch ms, or null when the visitor only has to exist. A touch is { at (epoch ms), url, referrer, utm,
-- clickIds } or null. Sightings may arrive twice, late or in another order, with the same result.
-- Raises 40001 when the person who used a browser at `seen_at` has been erased since: such a sighting must not be
-- stored.
create or replace function see_visitors(p_sightings json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  with seen as (
    select business_id, visitor_id, min(seen_at) as first_at, max(seen_at) as last_at
    from json_to_recordset(p_sightings) as x (business_id uuid, visitor_id text, seen_at bigint)
    group by business_id, visitor_id
    -- Sorted, so that two saves that see the same visitors queue up.
    order by business_id, visitor_id collate "C"
  ),
  written as (
    insert into visitors as v (business_id, visitor_id, first_seen_at, last_seen_at)
      select business_id, visitor_id, first_at, last_at from seen
    on conflict (business_id, visitor_id) do update set
      first_seen_at = least(v.first_seen_at, excluded.first_seen_at),
      last_seen_at = greatest(v.last_seen_at, excluded.last_seen_at),
      revision = nextval('visitor_revisions')
    -- Even without a change, the conflict locks the row, for the touches.
    where (least(v.first_seen_at, excluded.first_seen_at), greatest(v.last_seen_at, excluded.last_seen_at))
      is distinct from (v.first_seen_at, v.last_seen_at)
    returning business_id, visitor_id
  )
  insert into outbox (events, event_count, business_ids, contact_ids, changed, visitor_business_ids, visitor_ids)
    select '', 0, '{}', '{}', '{}', array_agg(business_id), array_agg(visitor_id)
    from written having count(*) > 0;
  -- The browsers are locked now: an erasure is either seen here, or sees what was written above.
  if exists (
    select from json_to_recordset(p_sightings) as x (business_id uuid, visitor_id text, seen_at bigint)
    cross join lateral (
      select from erased_visits e
      where e.business_id = x.business_id and e.visitor_id = x.visitor_id collate "C"
        and x.seen_at >= e.from_at and x.seen_at < e.to_at
      limit 1
    ) erased
  ) then
    raise exception 'a visitor was erased meanwhile' using errcode = '40001';
  end if;

  if exists (
    select from json_to_recordset(p_sightings) as x (first_touch jsonb, latest_touch jsonb)
    where coalesce(first_touch, latest_touch) is not null
  ) then
    perform keep_touches(p_sightings);
  end if;
end
$$;
