-- Records entries into segments and exits from them, in the order given. A change that is already in force has no
-- effect. For one contact and segment, no change is dated before one that was written earlier.
--   p_businesses, p_contacts  the contacts, which the changes refer to by position
--   p_membership_rules  the rules of the changes
--   p_memberships  place, rule (its place), entered, at, cause
-- Returns the lines of outbox.segment_changes: the actual changes under rules in force; null when there are none. The
-- caller has locked the contacts, and the businesses, so that no rule is replaced in the meantime.
-- The loop is faster than a single statement for a few changes, and hardly slower for many. A pass over all contacts has
-- very many, nearly all of them entries into rules that are being built: these take one statement.
create or replace function change_memberships(
  p_businesses uuid[], p_contacts uuid[], p_membership_rules text[], p_memberships text[]
) returns text
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  rules segment_rules[];
  rule segment_rules;
  -- By place: the number of a rule that is being built. Null: it is in force.
  building bigint[];
  is_building boolean;
  steps integer[];
  places integer[];
  changed_rules integer[];
  entries boolean[];
  instants bigint[];
  causes text[];
  business uuid;
  contact uuid;
  changed_at bigint;
  entered_at bigint;
  lines text[] := '{}';
begin
  select array_agg(r), array_agg(case when (r).state = 'building' then (r).no end), bool_or((r).state = 'building'), array_agg(0)
    into rules, building, is_building, steps
    from (
      select r from unnest(p_membership_rules[1]::uuid[], p_membership_rules[2]::bigint[]) with ordinality as x (business_id, no, place)
      left join lateral (
        select * from segment_rules r where r.business_id = x.business_id and r.no = x.no limit 1
      ) r on true
      order by x.place
    ) listed (r);
  select array_agg(x.place), array_agg(x.rule), array_agg(x.entered), array_agg(x.at), array_agg(x.cause)
    into places, changed_rules, entries, instants, causes
    from unnest(p_memberships[1]::integer[], p_memberships[2]::integer[], p_memberships[3]::boolean[], p_memberships[4]::bigint[],
      p_memberships[5]::text[]
    ) as x (place, rule, entered, at, cause);
  -- An exit must keep its place in the order, so a save with exits from such rules goes through the loop.
  if is_building then
    is_building := (
      select bool_and(entered) from unnest(changed_rules, entries) as x (rule, entered) where building[x.rule] is not null
    );
  end if;
  if is_building then
    with inserted as (
      insert into segment_members (business_id, contact_id, segment_no, since, cause, logged)
        select p_businesses[place], p_contacts[place], building[x.rule], at, cause, false
        from unnest(places, changed_rules, instants, causes) as x (place, rule, at, cause)
        where building[x.rule] is not null
      on conflict do nothing
      returning business_id, segment_no
    )
    insert into segment_sizes (business_id, segment_no, members)
      select business_id, segment_no, count(*) from inserted group by business_id, segment_no;
    select array_agg(x.place), array_agg(x.rule), array_agg(x.entered), array_agg(x.at), array_agg(x.cause)
      into places, changed_rules, entries, instants, causes
      from unnest(places, changed_rules, entries, instants, causes) as x (place, rule, entered, at, cause)
      where building[x.rule] is null;
  end if;
  for i in 1 .. coalesce(cardinality(places), 0) loop
    rule := rules[changed_rules[i]];
    continue when rule.no is null;
    business := p_businesses[places[i]];
    contact := p_contacts[places[i]];
    changed_at := greatest(instants[i], rule.in_force_at);
    -- The rule has just replaced another one. The changes by that switch come first.
    if rule.switched_at is not null then
      lines := lines || log_switch(business, rule.no, array[contact]);
    end if;
    if entries[i] then
      insert into segment_members (business_id, contact_id, segment_no, since, cause, logged)
        values (business, contact, rule.no, changed_at, causes[i], rule.state = 'current')
      on conflict do nothing;
    else
      delete from segment_members m
        where m.business_id = business and m.contact_id = contact and m.segment_no = rule.no
        returning since into entered_at;
      changed_at := greatest(changed_at, entered_at);
    end if;
    continue when not found;
    steps[changed_rules[i]] := steps[changed_rules[i]] + case when entries[i] then 1 else -1 end;
    if rule.state = 'current' then
      lines := lines || segment_change_line(business, rule.segment_id, contact, changed_at, entries[i], causes[i]);
    end if;
  end loop;
  insert into segment_sizes (business_id, segment_no, members)
    select business_id, no, steps[place]
    from unnest(p_membership_rules[1]::uuid[], p_membership_rules[2]::bigint[]) with ordinality as x (business_id, no, place)
    where steps[place] <> 0;
  return nullif(array_to_string(lines, E'\n'), '');
end
$$;

-- Returns a JSON line in the format of src/outbox/segment-change-row.ts.
create or replace function segment_change_line(
  p_business uuid, p_segment uuid, p_contact uuid, p_at bigint, p_entered boolean, p_cause text
) returns text
language plpgsql volatile as $$
begin
  return json_build_object('business_id', p_business, 'segment_id', p_segment, 'contact_id', p_contact,
    'change_id', uuidv7(), 'at_ms', p_at, 'entered', p_entered::integer, 'cause', p_cause)::text;
end
$$;

-- Adds the changes in the number of members of rules.
create or replace function count_members(p_businesses uuid[], p_numbers bigint[], p_steps integer[]) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  if p_businesses = '{}' then
    return;
  end if;
  insert into segment_sizes (business_id, segment_no, members)
    select business_id, segment_no, sum(step)
    from unnest(p_businesses, p_numbers, p_steps) as x (business_id, segment_no, step)
    group by business_id, segment_no having sum(step) <> 0;
end
$$;

-- Removes contacts from all segments. Returns lines as change_memberships does.
create or replace function end_memberships(p_business uuid, p_contacts uuid[], p_at bigint, p_cause text) returns text
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  member record;
  lines text[] := '{}';
  businesses uuid[] := '{}';
  numbers bigint[] := '{}';
  steps integer[] := '{}';
begin
  for member in select r.no from segment_rules r where r.business_id = p_business and r.switched_at is not null loop
    lines := lines || log_switch(p_business, member.no, p_contacts);
  end loop;
  for member in
    with gone as (
      delete from segment_members where business_id = p_business and contact_id = any (p_contacts)
      returning contact_id, segment_no, since
    )
    select gone.contact_id, gone.segment_no, greatest(p_at, gone.since) as at, r.segment_id, r.state
    from gone left join segment_rules r on r.business_id = p_business and r.no = gone.segment_no
  loop
    businesses := businesses || p_business;
    numbers := numbers || member.segment_no;
    steps := steps || -1;
    if member.state = 'current' then
      lines := lines || segment_change_line(p_business, member.segment_id, member.contact_id, member.at, false, p_cause);
    end if;
  end loop;
  perform count_members(businesses, numbers, steps);
  return nullif(array_to_string(lines, E'\n'), '');
end
$$;
