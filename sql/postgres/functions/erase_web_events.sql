-- Records the periods in which a person who is being erased used a browser. The web events of these periods are deleted
-- from ClickHouse (src/erasure/finish-web-erasures.ts), and late ones are rejected. Call this before the links are
-- deleted.
create or replace function erase_web_events(p_business uuid, p_ids uuid[]) returns void
language sql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
  insert into erased_visits (business_id, visitor_id, from_at, to_at)
  select p_business, visitor_id, from_at, to_at
  from (
    select l.visitor_id, l.from_at, coalesce((
      select n.from_at from visitor_links n
      where n.business_id = p_business and n.visitor_id = l.visitor_id and n.from_at > l.from_at
      order by n.from_at limit 1
    ), (extract(epoch from clock_timestamp()) * 1000)::bigint) as to_at
    from visitor_links l
    where l.business_id = p_business and (l.contact_id = any (p_ids) or l.waits_for = any (p_ids)) and l.visitor_id ~ '^[0-9a-f]{32}$'
  ) visits
  on conflict (business_id, visitor_id, from_at) do update set
    to_at = greatest(erased_visits.to_at, excluded.to_at), behind = null, deleted_at = null, swept_at = null
$$;
