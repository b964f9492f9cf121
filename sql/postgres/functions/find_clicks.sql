-- Returns the ad clicks of a contact as of each of some instants: the newest click of each kind, if it was at most 90
-- days old then. A visit counts for the contact when the browser belonged to it at the time. For a contact with very
-- many visitors, only the newest 50 are read: callers without a key can add more, and a save waits for the answer.
-- Visitors whose links wait do not count.
create or replace function find_clicks(p_business uuid, p_contact uuid, p_untils bigint[])
returns table (until bigint, kind text, click_id text, clicked_at bigint)
language plpgsql stable
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  longest constant bigint := 90 * 86400000::bigint;
  earliest constant bigint := (select min(u) - longest from unnest(p_untils) u);
  latest constant bigint := (select max(u) from unnest(p_untils) u);
begin
  return query
    with clicks as materialized (
      select click.key, visit.at, max(click.value) as value
      from (
        select l.visitor_id from contact_visitors l
        where l.business_id = p_business and l.contact_id = p_contact and not l.waits
        order by l.linked_at desc, l.visitor_id desc limit 50
      ) theirs
      cross join lateral (
        select t.at, t.touch -> 'clickIds' as click_ids from visitor_touches t
        where t.business_id = p_business and t.visitor_id = theirs.visitor_id
          and t.at between earliest and latest and jsonb_typeof(t.touch -> 'clickIds') = 'object'
          and p_contact = (
            select l.contact_id from visitor_links l
            where l.business_id = p_business and l.visitor_id = t.visitor_id and l.from_at <= t.at
            order by l.from_at desc limit 1
          )
        offset 0
      ) visit
      cross join lateral jsonb_each_text(visit.click_ids) click
      where click.value <> ''
      group by click.key, visit.at
    ),
    -- Clicks and instants in one sequence, so that a thousand instants take one pass.
    moments as (
      select c.key, c.at, true as is_click from clicks c
      union all
      select k.key, asked.at, false
      from (select distinct c.key from clicks c) k cross join (select distinct u as at from unnest(p_untils) u) asked
    ),
    passed as (
      select m.key, m.at, m.is_click, max(m.at) filter (where m.is_click) over (partition by m.key order by m.at) as last_at
      from moments m
    )
    select p.at, c.key, c.value, c.at
    from passed p join clicks c on c.key = p.key and c.at = p.last_at
    where not p.is_click and p.last_at >= p.at - longest;
end
$$;
