-- Stores the touches of visitors (with the argument of see_visitors). The caller has locked the rows of the visitors.
-- Touches from a period in which the browser belonged to a person who has been erased are left out, because the browser
-- still sends them.
create or replace function keep_touches(p_sightings json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  moved json;
begin
  with sent as (
    select distinct business_id, visitor_id, md5((sent - 'at')::text)::uuid as digest, (sent ->> 'at')::bigint as at,
      sent - 'at' as touch
    from json_to_recordset(p_sightings) as x (business_id uuid, visitor_id text, first_touch jsonb, latest_touch jsonb)
    cross join lateral (values (first_touch), (latest_touch)) as both_ends (sent)
    where sent is not null
  ),
  -- Repeated touches are already in visitor_touches.
  news as materialized (
    select * from sent t
    where not exists (
      select from visitor_touches k
      where k.business_id = t.business_id and k.visitor_id = t.visitor_id collate "C" and k.digest = t.digest
        and t.at between k.at and k.until
    ) and not exists (
      select from erased_visits e
      where e.business_id = t.business_id and e.visitor_id = t.visitor_id collate "C"
        and t.at >= e.from_at and t.at < e.to_at
    )
  ),
  known as materialized (
    select k.*
    from (select distinct business_id, visitor_id, digest from news) n
    join visitor_touches k on k.business_id = n.business_id and k.visitor_id = n.visitor_id collate "C" and k.digest = n.digest
  ),
  spans as (
    select business_id, visitor_id, digest, at, until, touch from known
    union all
    select business_id, visitor_id, digest, at, at, touch from news
  ),
  marked as (
    select *, coalesce(at - max(until) over (
      partition by business_id, visitor_id, digest order by at, until
      rows between unbounded preceding and 1 preceding
    ) > 1800000, true) as begins
    from spans
  ),
  numbered as (
    select *, count(*) filter (where begins) over (
      partition by business_id, visitor_id, digest order by at, until rows unbounded preceding
    ) as number
    from marked
  ),
  united as materialized (
    select business_id, visitor_id, digest, min(at) as at, max(until) as until, (array_agg(touch))[1] as touch
    from numbered group by business_id, visitor_id, digest, number
  ),
  gone as (
    delete from visitor_touches k using known g
    where k.business_id = g.business_id and k.visitor_id = g.visitor_id collate "C" and k.digest = g.digest and k.at = g.at
      and (g.business_id, g.visitor_id, g.digest, g.at) not in (select business_id, visitor_id, digest, at from united)
    returning k.business_id, k.visitor_id
  ),
  written as (
    insert into visitor_touches as k (business_id, visitor_id, digest, at, until, touch)
      select business_id, visitor_id, digest, at, until, touch from united
    on conflict (business_id, visitor_id, digest, at) do update set until = excluded.until where k.until < excluded.until
  ),
  fresh as (
    select business_id, visitor_id from united u
    where not exists (
      select from known k
      where (k.business_id, k.visitor_id, k.digest, k.at) = (u.business_id, u.visitor_id, u.digest, u.at)
    )
    union
    select business_id, visitor_id from gone
  )
  select json_agg(fresh) into moved from fresh;

  if moved is not null then
    perform settle_touches(moved);
  end if;
end
$$;
