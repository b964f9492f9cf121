-- Makes addresses primary. The caller has locked their contacts.
--   p_primaries  [{ business_id, contact_id, kind, value, turn }]. `value` null: of the contact's addresses of the kind, the
--                one that was made primary last; none when there is none.
--   p_turns      The numbers of the turns.
create or replace function set_primaries(p_primaries json, p_turns bigint[]) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  changed record;
begin
  for changed in
    select business_id, contact_id, kind, value, turn
    from json_to_recordset(p_primaries) as x (business_id uuid, contact_id uuid, kind text, value text, turn integer)
  loop
    if changed.value is null then
      select i.value into changed.value from identities i
        where i.business_id = changed.business_id and i.contact_id = changed.contact_id
          and i.kind = changed.kind collate "C" and i.named is not null
        order by i.named desc limit 1;
      update identities i set is_primary = coalesce(i.value = changed.value collate "C", false)
        where i.business_id = changed.business_id and i.contact_id = changed.contact_id
          and i.kind = changed.kind collate "C" and i.is_primary is distinct from coalesce(i.value = changed.value collate "C", false);
    else
      update identities i set
        is_primary = i.value = changed.value collate "C",
        named = case when i.value = changed.value collate "C" then p_turns[changed.turn] else i.named end
      where i.business_id = changed.business_id and i.contact_id = changed.contact_id
        and i.kind = changed.kind collate "C" and (i.is_primary or i.value = changed.value collate "C");
    end if;
  end loop;
end
$$;

-- After contacts were merged: of their primary addresses of one kind, the one that was made primary last stays so.
create or replace function unite_primaries(p_business uuid, p_contacts uuid[]) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  doubled record;
begin
  for doubled in
    select i.contact_id, i.kind, max(i.named) as named from identities i
    where i.business_id = p_business and i.contact_id = any (p_contacts) and i.is_primary
    group by i.contact_id, i.kind having count(*) > 1
  loop
    update identities i set is_primary = false
      where i.business_id = p_business and i.contact_id = doubled.contact_id and i.kind = doubled.kind
        and i.is_primary and i.named < doubled.named;
  end loop;
end
$$;
