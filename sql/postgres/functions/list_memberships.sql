-- Returns the segments that a contact is a member of by the rules in force, and when and why it entered them.
create or replace function list_memberships(p_business uuid, p_contact uuid)
returns table (segment_id uuid, since bigint, cause text)
language plpgsql stable
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  return query
    select r.segment_id, e.since, e.cause
    from segment_members m
    join segment_rules r on r.business_id = m.business_id and r.no = m.segment_no and r.state = 'current'
    cross join lateral entry_of(m, r) e
    where m.business_id = p_business and m.contact_id = p_contact;
end
$$;

-- Returns when and why a member of a rule in force entered. This is not in the row while the history of the rule is
-- incomplete (switch_segment_rules). Until then, contacts that were also members by the former rule have its entry, and
-- all others entered with the switch.
create or replace function entry_of(m segment_members, r segment_rules) returns table (since bigint, cause text)
language plpgsql stable
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  if m.logged or r.switched_at is null then
    return query select m.since, m.cause;
  else
    return query
      select f.since, f.cause from segment_members f
      where f.business_id = m.business_id and f.contact_id = m.contact_id and f.segment_no = r.replaces;
    if not found then
      return query select r.switched_at, 'rule';
    end if;
  end if;
end
$$;

-- Returns a page of the members of a segment, newest entry first: those who entered before (p_before_at, p_before_id),
-- or at the same time with a smaller id.
create or replace function list_members(p_business uuid, p_segment uuid, p_before_at bigint, p_before_id uuid, p_limit integer)
returns table (contact_id uuid, since bigint, cause text)
language plpgsql stable
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  rule segment_rules;
begin
  select * into rule from segment_rules r
    where r.business_id = p_business and r.segment_id = p_segment and r.state = 'current';
  if rule.switched_at is null then
    return query
      select m.contact_id, m.since, m.cause from segment_members m
      where m.business_id = p_business and m.segment_no = rule.no and m.cause <> '' and (m.since, m.contact_id) < (p_before_at, p_before_id)
      order by m.since desc, m.contact_id desc limit p_limit;
  else
    return query
      select page.contact_id, page.since, page.cause from (
        (select m.contact_id, m.since, m.cause from segment_members m
          where m.business_id = p_business and m.segment_no = rule.no and m.cause <> '' and m.logged
            and (m.since, m.contact_id) < (p_before_at, p_before_id)
          order by m.since desc, m.contact_id desc limit p_limit)
        union all
        (select m.contact_id, e.since, e.cause
          from segment_members m cross join lateral entry_of(m, rule) e
          where m.business_id = p_business and m.segment_no = rule.no and not m.logged
            and (e.since, m.contact_id) < (p_before_at, p_before_id)
          order by e.since desc, m.contact_id desc limit p_limit)
      ) page
      order by page.since desc, page.contact_id desc limit p_limit;
  end if;
end
$$;
