-- Puts the rules of a business that were being built in force, all at once. Their members are complete. The changes by
-- the switch are written to the history afterwards, step by step: see log_switch.
--   p_epoch  epoch of the pass that completed them; raises SL001 when an edit happened in the meantime
create or replace function switch_segment_rules(p_business uuid, p_epoch bigint, p_at bigint) returns boolean
language plpgsql
as $$
begin
  -- Waits for the saves that decided by the former rules. Later saves decide again.
  update businesses set config_version = config_version + 1 where id = p_business;
  delete from segment_builds where business_id = p_business and epoch = p_epoch;
  if not found then
    raise exception 'the rules were edited meanwhile' using errcode = 'SL001';
  end if;
  update segment_rules b set switched_at = p_at, in_force_at = p_at, replaces = (
      select c.no from segment_rules c
      where c.business_id = p_business and c.segment_id = b.segment_id and c.state = 'current'
    )
    where b.business_id = p_business and b.state = 'building';
  update segment_rules c set state = 'retired', switched_at = null
    where c.business_id = p_business and c.state = 'current' and exists (
      select from segment_rules b where b.business_id = p_business and b.state = 'building' and b.segment_id = c.segment_id
    );
  update segment_rules set state = 'current' where business_id = p_business and state = 'building';
  return true;
end
$$;

-- Writes the changes that a switch made for these contacts to the history: members by the new rule only have entered,
-- members by the former rule only have left, and members by both stay since their entry. Returns lines of
-- outbox.segment_changes. A contact that was already done gets none, as its rows show.
create or replace function log_switch(p_business uuid, p_no bigint, p_contacts uuid[]) returns text[]
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  rule record;
  lines text[];
  left_behind integer;
begin
  select segment_id, switched_at, replaces into rule from segment_rules where business_id = p_business and no = p_no;
  if rule.switched_at is null then
    return '{}';
  end if;
  -- The rows are found by the primary key. With a condition on `logged`, Postgres could use the index of all waiting rows,
  -- and read it from end to end for each contact. The contacts are locked, but the members of a rule that is retired
  -- meanwhile are removed without these locks: only what was removed here counts.
  with listed as materialized (
    select one.id, own.ctid as own, former.ctid as former, former.since, former.cause
    from (select distinct unnest(p_contacts)) as one (id)
    left join lateral (
      select m.ctid, m.logged from segment_members m
      where m.business_id = p_business and m.contact_id = one.id and m.segment_no = p_no limit 1
    ) held on true
    left join lateral (select held.ctid where not held.logged) own on true
    left join lateral (
      select m.ctid, m.since, m.cause from segment_members m
      where m.business_id = p_business and m.contact_id = one.id and m.segment_no = rule.replaces limit 1
    ) former on true
    where own.ctid is not null or former.ctid is not null
  ), removed as (
    delete from segment_members where ctid = any (array(select former from listed where former is not null))
    returning contact_id
  ), kept as (
    update segment_members m set since = coalesce(x.since, rule.switched_at), cause = coalesce(x.cause, 'rule'), logged = true
    from listed x where m.ctid = x.own
  )
  select
      coalesce(array_agg(segment_change_line(p_business, rule.segment_id, id, rule.switched_at, removed.contact_id is null, 'rule'))
        filter (where (own is null) <> (removed.contact_id is null)), '{}'),
      count(removed.contact_id)
    into lines, left_behind
    from listed left join removed on removed.contact_id = listed.id;
  if left_behind > 0 then
    perform count_members(array[p_business], array[rule.replaces], array[-left_behind]);
  end if;
  return lines;
end
$$;

-- Runs one step of the above for all contacts of the rule. Returns the number of contacts that it looked at; 0 when the
-- history is complete.
create or replace function log_switch_step(p_business uuid, p_no bigint, p_most integer) returns integer
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_custom_plan set jit = off
as $$
declare
  former bigint := (select replaces from segment_rules where business_id = p_business and no = p_no);
  ids uuid[];
  lines text[];
begin
  -- Contacts in order, as saves lock them.
  ids := array(
    select contact_id from (
      (select contact_id from segment_members
        where business_id = p_business and segment_no = former and cause <> '' limit p_most)
      union
      (select contact_id from segment_members
        where business_id = p_business and segment_no = p_no and not logged limit p_most)
    ) waiting order by contact_id
  );
  perform from contacts where business_id = p_business and id = any (ids) order by id for no key update;
  lines := log_switch(p_business, p_no, ids);
  if lines <> '{}' then
    insert into outbox (events, event_count, business_ids, contact_ids, changed, segment_changes)
      values ('', 0, '{}', '{}', '{}', array_to_string(lines, E'\n'));
  end if;
  if ids = '{}' then
    update segment_rules set switched_at = null, replaces = null where business_id = p_business and no = p_no;
  end if;
  return cardinality(ids);
end
$$;
