-- Remembers the times in which a person, who is being erased, used a browser: web events of them are deleted from
-- ClickHouse (src/web/finish-web-erasures.ts) and not let in any more. To be called while the links are still there.
create or replace function erase_web_events(p_business uuid, p_ids uuid[]) returns void
language sql
set plan_cache_mode = force_custom_plan
as $$
  insert into erased_visits (business_id, visitor_id, from_at, to_at)
  select p_business, visitor_id, from_at, to_at
  from (
    select visitor_id, from_at, contact_id,
      lead(from_at, 1, (extract(epoch from clock_timestamp()) * 1000)::bigint)
        over (partition by visitor_id order by from_at) as to_at
    from visitor_links
    where business_id = p_business and visitor_id in (
      select visitor_id from visitor_links where business_id = p_business and contact_id = any (p_ids))
  ) visits
  where contact_id = any (p_ids) and visitor_id ~ '^[0-9a-f]{32}$'
  on conflict (business_id, visitor_id, from_at) do update set
    to_at = greatest(erased_visits.to_at, excluded.to_at), behind = null, deleted_at = null, swept_at = null
$$;
