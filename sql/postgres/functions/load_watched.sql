-- What the segments of a business read of one contact, as src/contacts/watched-facts.ts takes it.
--   p_events  names; null: all statistics of the contact, which costs less than probing for many
create or replace function load_watched(
  p_business uuid, p_contact uuid, p_traits jsonb, p_tags text[], p_orders bigint,
  p_events text[], p_fields text[], p_watched_tags text[], p_revenue boolean, p_windows boolean
) returns json
language plpgsql stable
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  statistics json[];
  clock json;
begin
  if p_events is null then
    statistics := array(
      select json_build_array(s.event, s.first_at, s.last_at, s.count)
      from event_statistics s where s.business_id = p_business and s.contact_id = p_contact
    );
  elsif p_events <> '{}' then
    statistics := array(
      select json_build_array(s.event, s.first_at, s.last_at, s.count)
      from unnest(p_events) as watched (event)
      cross join lateral (
        select * from event_statistics s
        where s.business_id = p_business and s.contact_id = p_contact and s.event = watched.event collate "C"
        limit 1
      ) s
    );
  end if;
  select json_build_array(k.due_at, k.settled_at, k.bulk_facts) into clock
    from segment_clock k where k.business_id = p_business and k.contact_id = p_contact;
  return json_build_array(
    coalesce(statistics, '{}'),
    case when p_fields = '{}' then '{}'::json[]
      else array(select json_build_array(key, p_traits -> key) from unnest(p_fields) as key where p_traits ? key) end,
    case when p_watched_tags = '{}' then '{}'::text[]
      else array(select tag from unnest(p_tags) as tag where tag = any (p_watched_tags)) end,
    case when p_revenue then array(
      select json_build_array(r.currency, r.amount::text)
      from revenue r where r.business_id = p_business and r.contact_id = p_contact
    ) else '{}'::json[] end,
    p_orders,
    case when p_windows then array(
      select json_build_array(w.key_hash, trim_scale(w.value)::text, w.next_at)
      from segment_windows w where w.business_id = p_business and w.contact_id = p_contact
    ) else '{}'::json[] end,
    clock,
    p_windows and exists (
      select from segment_window_refreshes c where c.business_id = p_business and c.contact_id = p_contact and c.is_new
    )
  );
end
$$;
