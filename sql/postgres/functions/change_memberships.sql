-- Writes who entered and left segments, in the order given. What was so already changes nothing. Of one contact and segment, no change
-- is dated before another that was written earlier.
--   p_memberships  [{ business_id, contact_id, no, entered, at, cause }]
-- Returns the lines of outbox.segment_changes: what really changed in rules in force. Null: nothing. The caller has locked the contacts,
-- and the businesses, so that no rule takes the place of another meanwhile.
create or replace function change_memberships(p_memberships json) returns text
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  change record;
  entered_at bigint;
  lines text[] := '{}';
  -- Parallel: the rules whose members changed, and by how many.
  businesses uuid[] := '{}';
  numbers bigint[] := '{}';
  steps integer[] := '{}';
begin
  for change in
    select x.business_id, x.contact_id, x.no, x.entered, greatest(x.at, r.in_force_at) as at, x.cause, r.segment_id, r.state,
      r.switched_at
    from json_to_recordset(p_memberships) as x (business_id uuid, contact_id uuid, no bigint, entered boolean, at bigint, cause text)
    cross join lateral (
      select r.segment_id, r.state, r.switched_at, r.in_force_at from segment_rules r where r.business_id = x.business_id and r.no = x.no limit 1
    ) r
  loop
    -- The rule has just taken the place of another: what that changed comes first.
    if change.switched_at is not null then
      lines := lines || log_switch(change.business_id, change.no, array[change.contact_id]);
    end if;
    if change.entered then
      insert into segment_members (business_id, contact_id, segment_no, since, cause, logged)
        values (change.business_id, change.contact_id, change.no, change.at, change.cause, change.state = 'current')
      on conflict do nothing;
    else
      delete from segment_members m
        where m.business_id = change.business_id and m.contact_id = change.contact_id and m.segment_no = change.no
        returning since into entered_at;
      change.at := greatest(change.at, entered_at);
    end if;
    continue when not found;
    businesses := businesses || change.business_id;
    numbers := numbers || change.no;
    steps := steps || case when change.entered then 1 else -1 end;
    if change.state = 'current' then
      lines := lines || segment_change_line(change.business_id, change.segment_id, change.contact_id, change.at,
        change.entered, change.cause);
    end if;
  end loop;
  perform count_members(businesses, numbers, steps);
  return nullif(array_to_string(lines, E'\n'), '');
end
$$;

-- A JSON line as src/outbox/segment-change-row.ts describes it.
create or replace function segment_change_line(
  p_business uuid, p_segment uuid, p_contact uuid, p_at bigint, p_entered boolean, p_cause text
) returns text
language sql volatile as $$
  select json_build_object('business_id', p_business, 'segment_id', p_segment, 'contact_id', p_contact,
    'change_id', uuidv7(), 'at_ms', p_at, 'entered', p_entered::integer, 'cause', p_cause)::text
$$;

-- By how many the members of rules have changed.
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

-- Takes contacts out of all segments. Returns lines as change_memberships does.
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
