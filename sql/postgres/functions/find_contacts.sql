-- Returns a page of a business's contacts, newest first: those created before (p_before_at, p_before_id) that match all
-- filters.
--   p_limit     contacts wanted
--   p_stage, p_tag, p_segment, p_field  null for any
--   p_segment   a segment: members by its rule in force
--   p_field_values  JSON texts: the custom field has one of these values
--   p_value_patterns, p_name_patterns  patterns of LIKE, in lower case, with the caller's wildcards escaped. One of
--                                      them has to match: p_value_patterns match emails, phones and customer ids, and
--                                      p_name_patterns match the first and last name with a space between. Null for any
--                                      contact.
--   p_ms        time limit; then the function returns what it has found so far
-- Returns the ids, and where it stopped (null at the end of the list).
create or replace function find_contacts(
  p_business uuid, p_before_at bigint, p_before_id uuid, p_limit integer, p_stage smallint, p_tag text,
  p_segment uuid, p_field text, p_field_values text[],
  p_value_patterns text[], p_name_patterns text[], p_ms integer
) returns table (ids uuid[], stopped_at bigint, stopped_id uuid)
language plpgsql stable
-- The plan is not made for the one business, nor for a business without statistics, which would be taken for empty: its
-- rows would be sorted instead of read in order.
set enable_seqscan = off set enable_sort = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  -- If there are more matches, they are not collected and sorted: they are so common that reading the list in order
  -- soon fills a page.
  most_found constant integer := 2000;
  -- This number of contacts is checked first. If most of them match, the page is full before an index would have been
  -- read.
  first_look constant integer := 1000;
  -- If more of these have the tag, the index is not read: it would list all contacts with the tag before it returned
  -- the first.
  few_tagged constant integer := 5;
  -- The same, before the members of a segment are read.
  member_look constant integer := 4000;
  -- Up to this number, members are collected and sorted.
  most_members constant integer := 20000;
  until timestamptz := clock_timestamp() + p_ms * interval '1 millisecond';
  looked integer := 0;
  tagged integer := 0;
  is_indexed boolean := to_regclass('identities_search') is not null;
  -- The number of the rule in force.
  rule integer := (
    select r.no from segment_rules r
    where r.business_id = p_business and r.segment_id = p_segment and r.state = 'current'
  );
  found_ids uuid[];
  -- True when the contacts to page through are in found_ids.
  is_collected boolean := false;
  -- Set when the contacts in found_ids match the patterns, or are members of the segment.
  is_matched boolean := false;
  are_members boolean := false;
  c record;
begin
  ids := '{}';
  if p_segment is not null and rule is null then
    return next;
    return;
  end if;
  for c in
    select o.id, o.created_at, p_tag = any (o.tags) as is_tagged,
      (p_stage is null or o.stage = p_stage) and (p_tag is null or p_tag = any (o.tags))
      and (p_field is null or o.traits -> p_field ->> 1 = any (p_field_values))
      and (p_segment is null or coalesce((
        select true from segment_members m
        where m.business_id = o.business_id and m.contact_id = o.id and m.segment_no = rule
        limit 1
      ), false)) and (
        p_value_patterns is null
        or lower(coalesce(o.first_name, '') || ' ' || coalesce(o.last_name, '')) like any (p_name_patterns)
        or coalesce((
          select true from identities i
          where i.business_id = o.business_id and i.contact_id = o.id and lower(i.value) like any (p_value_patterns)
          limit 1
        ), false)
      ) as matches
    from (
      (
        select * from contacts a
        where array[a.business_id] = array[p_business] and a.merged_into is null
          and (a.created_at, a.id) < (p_before_at, p_before_id) and (p_stage is null or p_stage = 0)
        order by a.created_at desc, a.id desc
      )
      union all
      -- Contacts in a later stage have an index.
      (
        select * from contacts s
        where array[s.business_id] = array[p_business] and s.stage = p_stage and s.merged_into is null
          and (s.created_at, s.id) < (p_before_at, p_before_id) and s.stage > 0 and p_stage > 0
        order by s.created_at desc, s.id desc
      )
    ) o
    order by o.created_at desc, o.id desc
  loop
    if c.matches then
      if cardinality(ids) = p_limit then
        return next;
        return;
      end if;
      ids := ids || c.id;
    end if;
    stopped_at := c.created_at;
    stopped_id := c.id;
    looked := looked + 1;
    tagged := tagged + c.is_tagged::integer;
    -- If there are few matches, they are collected and sorted before the other filters are applied.
    if looked = first_look and tagged <= few_tagged and p_tag is not null then
      found_ids := array(
        select s.id from contacts s
        where array[s.business_id] @> array[p_business] and s.tags @> array[p_tag] and s.tags <> '{}'
        limit most_found
      );
      is_collected := cardinality(found_ids) < most_found;
      exit when is_collected;
    end if;
    if looked = first_look and p_value_patterns is not null and is_indexed then
      -- Each pattern is a separate query, so that it can use the index.
      found_ids := array(
        select i.contact_id from unnest(p_value_patterns) as pattern
        cross join lateral (
          select s.contact_id from identities s
          where array[s.business_id] @> array[p_business] and lower(s.value) like pattern
          limit most_found
        ) i
        union all
        select n.id from unnest(p_name_patterns) as pattern
        cross join lateral (
          select s.id from contacts s
          where array[s.business_id] @> array[p_business] and (s.first_name is not null or s.last_name is not null)
            and lower(coalesce(s.first_name, '') || ' ' || coalesce(s.last_name, '')) like pattern
          limit most_found
        ) n
        limit most_found
      );
      if cardinality(found_ids) < most_found then
        is_collected := true;
        is_matched := true;
        exit;
      end if;
    end if;
    if looked = member_look and rule is not null then
      found_ids := array(
        select m.contact_id from segment_members m where m.business_id = p_business and m.segment_no = rule and m.cause <> ''
        limit most_members + 1
      );
      is_collected := cardinality(found_ids) <= most_members;
      are_members := is_collected;
      exit when is_collected;
    end if;
    if looked % 256 = 0 and clock_timestamp() > until then
      return next;
      return;
    end if;
  end loop;
  stopped_at := null;
  stopped_id := null;
  if is_collected then
    select coalesce(array_agg(page.id order by page.created_at desc, page.id desc), '{}') into ids
    from (
      select o.id, o.created_at from contacts o
      where o.business_id = p_business and o.id = any (found_ids) and o.merged_into is null
        and (o.created_at, o.id) < (p_before_at, p_before_id)
        and (p_stage is null or o.stage = p_stage) and (p_tag is null or p_tag = any (o.tags))
        and (p_field is null or o.traits -> p_field ->> 1 = any (p_field_values))
        and (p_segment is null or are_members or coalesce((
          select true from segment_members m
          where m.business_id = o.business_id and m.contact_id = o.id and m.segment_no = rule
          limit 1
        ), false)) and (
          p_value_patterns is null or is_matched
          or lower(coalesce(o.first_name, '') || ' ' || coalesce(o.last_name, '')) like any (p_name_patterns)
          or coalesce((
            select true from identities i
            where i.business_id = o.business_id and i.contact_id = o.id and lower(i.value) like any (p_value_patterns)
            limit 1
          ), false)
        )
      order by o.created_at desc, o.id desc
      limit p_limit + 1
    ) page;
    if cardinality(ids) > p_limit then
      ids := ids[:p_limit];
      select o.created_at, o.id into stopped_at, stopped_id
        from contacts o where o.business_id = p_business and o.id = ids[p_limit];
    end if;
  end if;
  return next;
end
$$;
