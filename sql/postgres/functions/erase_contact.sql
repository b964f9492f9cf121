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
  -- What tells that a dead letter is the person's: one of the ids, or an identity that it was sent under.
  traces text[] := ids::text[] || array(
    select to_json(kind)::text || ':' || to_json(value)::text from identities
    where business_id = p_business and contact_id = any (ids)
  );
begin
  insert into erasures (business_id, contact_id, erased_as) select p_business, unnest(ids), p_contact;

  delete from dead_letters d
    where d.business_id = p_business and exists (select from unnest(traces) trace where position(trace in d.payload) > 0);
  delete from identities where business_id = p_business and contact_id = any (ids);
  delete from event_statistics where business_id = p_business and contact_id = any (ids);
  delete from revenue where business_id = p_business and contact_id = any (ids);
  delete from subscriptions where business_id = p_business and contact_id = any (ids);
  delete from visitors where business_id = p_business and contact_id = any (ids);
  delete from contact_visitors where business_id = p_business and contact_id = any (ids);
  delete from identifications where business_id = p_business and contact_id = any (ids);
  delete from enrolments where business_id = p_business and contact_id = any (ids);
  delete from merge_log where business_id = p_business and (contact_id = any (ids) or losing_id = any (ids));
  delete from contacts where business_id = p_business and id = any (ids);
end
$$;
