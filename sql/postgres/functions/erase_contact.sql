-- Erases a person: everything that Postgres knows under the contact's id and every id merged into it, but for the hashes
-- of its idempotency keys. The ids stay in `erasures`, so that a repeat of an erased event brings nothing back; the outbox
-- and ClickHouse follow from there.
create or replace function erase_contact(p_business uuid, p_contact uuid) returns void
language plpgsql
-- Rare, and planned afresh for what the tables are by now.
set plan_cache_mode = force_custom_plan
as $$
declare
  ids uuid[] := array(select id from contacts where business_id = p_business and (id = p_contact or merged_into = p_contact));
  browsers text[] := array(select visitor_id from contact_visitors where business_id = p_business and contact_id = any (ids));
  -- Those that nobody else ever identified.
  own text[] := array(
    select browser from unnest(browsers) as browser where not exists (
      select from contact_visitors l
      where l.business_id = p_business and l.visitor_id = browser collate "C" and l.contact_id <> all (ids)
    )
  );
  -- What tells that a dead letter is the person's: one of the ids, an identity that it was sent under, or a browser.
  traces text[] := ids::text[] || array(
    select to_json(kind)::text || ':' || to_json(value)::text from identities
    where business_id = p_business and contact_id = any (ids)
  ) || array(select '"visitorId":' || to_json(browser)::text from unnest(own) as browser);
begin
  insert into erasures (business_id, contact_id, erased_as, visitor_ids, visitor_revision)
    select p_business, id, p_contact, case when id = p_contact then own else '{}' end, nextval('visitor_revisions')
    from unnest(ids) as id;
  perform erase_web_events(p_business, ids);

  delete from dead_letters d
    where d.business_id = p_business and exists (select from unnest(traces) trace where position(trace in d.payload) > 0);
  delete from identities where business_id = p_business and contact_id = any (ids);
  delete from event_statistics where business_id = p_business and contact_id = any (ids);
  delete from revenue where business_id = p_business and contact_id = any (ids);
  delete from subscriptions where business_id = p_business and contact_id = any (ids);
  delete from visitors where business_id = p_business and visitor_id = any (own);
  delete from visitor_events where business_id = p_business and visitor_id = any (own);
  delete from visitor_links where business_id = p_business and contact_id = any (ids);
  -- A browser that others have identified too is nobody's until somebody does so again. How the person came goes.
  with shared as (
    update visitors set
      contact_id = case when contact_id = any (ids) then null else contact_id end,
      current_contact_id = case when current_contact_id = any (ids) then null else current_contact_id end,
      first_touch = case when contact_id = any (ids) then null else first_touch end,
      latest_touch = case when current_contact_id = any (ids) then null else latest_touch end,
      revision = nextval('visitor_revisions')
    where business_id = p_business and visitor_id = any (browsers)
    returning visitor_id
  )
  insert into outbox (events, event_count, business_ids, contact_ids, changed, visitor_business_ids, visitor_ids, visitor_linked)
    select '', 0, '{}', '{}', '{}', array_agg(p_business), array_agg(visitor_id), array_agg(true)
    from shared having count(*) > 0;
  delete from contact_visitors where business_id = p_business and contact_id = any (ids);
  delete from identifications where business_id = p_business and contact_id = any (ids);
  delete from enrolments where business_id = p_business and contact_id = any (ids);
  delete from deliveries where business_id = p_business and contact_id = any (ids);
  delete from merge_log where business_id = p_business and (contact_id = any (ids) or losing_id = any (ids));
  delete from contacts where business_id = p_business and id = any (ids);
end
$$;
