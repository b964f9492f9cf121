-- Returns the unshipped rows of the outbox that name one of these contacts: the row's id, the contacts, and the bytes
-- of its events. It always reads the unshipped rows through their partial index: a plan that was made during a large
-- backlog would scan the whole outbox, including days of shipped rows.
create or replace function find_unshipped(p_contacts uuid[])
returns table (id bigint, contacts json, bytes integer)
language plpgsql stable
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  -- Comparing arrays takes time in proportion to the product of their lengths. Many ids are therefore hashed instead.
  if cardinality(p_contacts) <= 16 then
    return query
      select o.id, to_json(array(select c from unnest(o.contact_ids) as c where c = any (p_contacts))),
        coalesce(o.unpacked_bytes, octet_length(o.events))
      from outbox o
      where o.shipped_at is null and o.event_count > 0 and o.contact_ids && p_contacts;
  else
    return query
      select o.id, json_agg(named.contact), max(coalesce(o.unpacked_bytes, octet_length(o.events)))
      from outbox o cross join unnest(o.contact_ids) as named (contact)
      where o.shipped_at is null and o.event_count > 0 and named.contact in (select unnest(p_contacts))
      group by o.id;
  end if;
end
$$;
