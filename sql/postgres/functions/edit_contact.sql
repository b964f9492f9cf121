-- Applies the parts of an edit that no event can do: clears profile fields, removes tags, and replaces traits whatever
-- their time. The caller has locked the contact, and has already applied the traits of the edit that were newer.
--   p_cleared  columns of the profile
--   p_traits   { key: JSON text or null }
--   p_at       epoch ms
create or replace function edit_contact(
  p_business uuid, p_contact uuid, p_at bigint, p_cleared text[], p_traits jsonb, p_add_tags text[], p_remove_tags text[]
) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  insert into removed_tags as known (business_id, contact_id, tag, removed_at)
    select p_business, p_contact, tag, p_at
    from contacts c cross join lateral unnest(c.tags) as tag
    where c.business_id = p_business and c.id = p_contact and tag = any (p_remove_tags)
  on conflict (business_id, contact_id, tag) do update set removed_at = greatest(known.removed_at, excluded.removed_at);
  perform keep_removed_tags(p_business, p_contact);
  update contacts c set
    first_name = case when 'first_name' = any (p_cleared) then null else c.first_name end,
    last_name = case when 'last_name' = any (p_cleared) then null else c.last_name end,
    country = case when 'country' = any (p_cleared) then null else c.country end,
    city = case when 'city' = any (p_cleared) then null else c.city end,
    language = case when 'language' = any (p_cleared) then null else c.language end,
    timezone = case when 'timezone' = any (p_cleared) then null else c.timezone end,
    -- If the stored trait is not older, the new one is dated 1 ms after it.
    traits = c.traits || (
      select coalesce(jsonb_object_agg(key, jsonb_build_array((c.traits -> key ->> 0)::bigint + 1, value)), '{}')
      from jsonb_each(p_traits)
      where c.traits -> key is not null and (c.traits -> key ->> 1) is distinct from (value #>> '{}')
    ),
    tags = add_tags(
      array(select tag from unnest(c.tags) with ordinality as held (tag, place) where tag <> all (p_remove_tags) order by place),
      p_add_tags
    )
  where c.business_id = p_business and c.id = p_contact;
end
$$;

create or replace function keep_removed_tags(p_business uuid, p_contact uuid) returns void
language sql as $$
  delete from removed_tags r
  where r.business_id = p_business and r.contact_id = p_contact and r.tag in (
    select o.tag from removed_tags o
    where o.business_id = p_business and o.contact_id = p_contact
    order by o.removed_at desc, o.tag offset 1000
  )
$$;
