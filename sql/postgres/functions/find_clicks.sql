-- The ad clicks that a contact came by until an instant: of each kind the newest, if it was at most 90 days old then. A
-- visit counts as the contact's when the browser was theirs at the time.
create or replace function find_clicks(p_business uuid, p_contact uuid, p_until bigint)
returns table (kind text, click_id text, clicked_at bigint)
language plpgsql stable
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  return query
    select distinct on (click.key) click.key, click.value, visit.at
    from (
      select l.visitor_id from contact_visitors l where l.business_id = p_business and l.contact_id = p_contact
    ) theirs
    cross join lateral (
      select t.at, t.touch -> 'clickIds' as click_ids from visitor_touches t
      where t.business_id = p_business and t.visitor_id = theirs.visitor_id
        and t.at between p_until - 90 * 86400000::bigint and p_until and jsonb_typeof(t.touch -> 'clickIds') = 'object'
      offset 0
    ) visit
    cross join lateral jsonb_each_text(visit.click_ids) click
    where click.value <> ''
      and p_contact = (
        select l.contact_id from visitor_links l
        where l.business_id = p_business and l.visitor_id = theirs.visitor_id and l.from_at <= visit.at
        order by l.from_at desc limit 1
      )
    order by click.key, visit.at desc;
end
$$;
