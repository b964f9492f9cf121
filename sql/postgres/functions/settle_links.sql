-- Changes existing links, one step after the other (rules/changes.ts, LinkStep).
--   p_steps     [{ business_id, contact_id, waits, named, visitor_id, from_at, identified_at }]; with `waits`, the
--               links of the contact wait from now on, except for those of the browser `named`. Without it, the waiting
--               links of the browser become the contact's, the newest link (at `from_at`, if it waits) since
--               `identified_at`
--   p_visitors  browsers whose owner `link_visitors` writes
-- The caller has locked the browsers.
create or replace function settle_links(p_steps json, p_visitors json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  step record;
begin
  for step in
    select * from json_to_recordset(p_steps) as x (business_id uuid, contact_id uuid, waits boolean, named text,
      visitor_id text, from_at bigint, identified_at bigint)
  loop
    if step.waits then
      update contact_visitors set waits = true
        where business_id = step.business_id and contact_id = step.contact_id and not waits
          and visitor_id is distinct from step.named collate "C";
      update visitors v set
        current_contact_id = case
          when v.current_contact_id = step.contact_id and v.visitor_id not in (
            select d.visitor_id from json_to_recordset(p_visitors) as d (business_id uuid, visitor_id text)
            where d.business_id = step.business_id
          ) then null
          else v.current_contact_id
        end,
        waits = true,
        revision = nextval('visitor_revisions')
        from (
          select distinct l.visitor_id from visitor_links l
          where l.business_id = step.business_id and l.contact_id = step.contact_id
            and l.visitor_id is distinct from step.named collate "C"
        ) used
        where v.business_id = step.business_id and v.visitor_id = used.visitor_id;
    end if;
    with settled as (
      update visitor_links set
        contact_id = case when step.waits then null else step.contact_id end,
        waits_for = case when step.waits then step.contact_id end,
        identified_at = case when from_at = step.from_at then step.identified_at else identified_at end
      where business_id = step.business_id and (visitor_id, from_at) in (
        select l.visitor_id, l.from_at from visitor_links l
        where step.waits and l.business_id = step.business_id and l.contact_id = step.contact_id
          and l.visitor_id is distinct from step.named collate "C"
        union all
        select l.visitor_id, l.from_at from visitor_links l
        where not step.waits and l.business_id = step.business_id and l.visitor_id = step.visitor_id collate "C"
          and l.waits_for is not null
      )
      returning business_id, visitor_id, from_at
    )
    insert into outbox (events, event_count, business_ids, contact_ids, changed, visitor_business_ids, visitor_ids,
        visitor_link_from)
      select '', 0, '{}', '{}', '{}', array_agg(business_id), array_agg(visitor_id), array_agg(from_at)
      from settled having count(*) > 0;
  end loop;
end
$$;
