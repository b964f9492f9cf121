-- Links visitors to contacts, which get the events from before the identification.
--   p_visitors  [{ business_id, visitor_id, assumed_contact_id, contact_id, current_contact_id, linked_at,
--               joined_contact_id, joined_count, joined_orders, crowded, waits }]
--   p_links     [{ business_id, visitor_id, from_at, contact_id, identified_at, waits_for, is_late }], of these
--               browsers; a link that already exists at the time of a late one stays
-- `see_visitors` was called with all of them, so they exist and are locked in order.
-- Raises SL001 when a browser does not belong to the assumed contact, or when its events are not those that were
-- counted.
create or replace function link_visitors(p_visitors json, p_links json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  linked record;
begin
  for linked in
    select * from json_to_recordset(p_visitors) as x (business_id uuid, visitor_id text, assumed_contact_id uuid,
      contact_id uuid, current_contact_id uuid, linked_at bigint, joined_contact_id uuid, joined_count integer,
      joined_orders boolean, crowded boolean, waits boolean)
  loop
    update visitors v set
      contact_id = coalesce(v.contact_id, linked.contact_id),
      linked_at = coalesce(v.linked_at, linked.linked_at),
      current_contact_id = linked.current_contact_id,
      crowded = linked.crowded,
      -- Includes links that began to wait after this was decided.
      waits = linked.waits or (v.waits and exists (
        select from visitor_links l
        where l.business_id = v.business_id and l.visitor_id = v.visitor_id and l.waits_for is not null
      )),
      revision = nextval('visitor_revisions')
    where v.business_id = linked.business_id and v.visitor_id = linked.visitor_id collate "C"
      and v.current_contact_id is not distinct from linked.assumed_contact_id and not v.crowded;
    if not found then
      raise exception 'a visitor was identified meanwhile' using errcode = 'SL001';
    end if;

    -- One row of the outbox for each browser, so that no row exceeds what one browser may keep.
    if linked.joined_count > 0 then
      with joined as (
        delete from visitor_events e
          where e.business_id = linked.business_id and e.visitor_id = linked.visitor_id collate "C"
          returning e.event_id, (e.line::jsonb || jsonb_build_object('contact_id', linked.joined_contact_id)
            || case when linked.joined_orders then '{}' else '{"is_order":0}'::jsonb end)::text as line
      )
      insert into outbox (events, event_count, business_ids, contact_ids, changed)
        select string_agg(line, E'\n' order by event_id), count(*), array[linked.business_id],
          array[linked.joined_contact_id], '{false}'
        from joined having count(*) = linked.joined_count;
      if not found then
        raise exception 'events of a visitor were deleted meanwhile' using errcode = 'SL001';
      end if;
    end if;
  end loop;

  if p_links is null then
    return;
  end if;
  insert into visitor_links (business_id, visitor_id, from_at, contact_id, identified_at, waits_for)
    select business_id, visitor_id, from_at, contact_id, identified_at, waits_for
    from json_to_recordset(p_links) as x (business_id uuid, visitor_id text, from_at bigint, contact_id uuid,
      identified_at bigint, waits_for uuid, is_late boolean)
    where not is_late or not exists (
      select from visitor_links l
      where l.business_id = x.business_id and l.visitor_id = x.visitor_id collate "C" and l.from_at = x.from_at
    );
  insert into outbox (events, event_count, business_ids, contact_ids, changed, visitor_business_ids, visitor_ids, visitor_link_from)
    select '', 0, '{}', '{}', '{}', array_agg(business_id), array_agg(visitor_id), array_agg(from_at)
    from json_to_recordset(p_links) as x (business_id uuid, visitor_id text, from_at bigint);
end
$$;
