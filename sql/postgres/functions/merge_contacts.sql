-- A trait is [epoch ms, JSON text or null when cleared]. The newer one wins. At equal times, a value wins over a
-- clearing, and of two values, the one whose JSON has the greater bytes wins (decisions, "Traits and custom fields").
create or replace function trait_wins(sent jsonb, kept jsonb) returns boolean
language sql immutable parallel safe as $$
  select (sent ->> 0)::bigint > (kept ->> 0)::bigint
    or ((sent ->> 0)::bigint = (kept ->> 0)::bigint and sent ->> 1 is not null
      and (kept ->> 1 is null or (sent ->> 1) collate "C" > (kept ->> 1) collate "C"))
$$;

-- A loop, because a query that joins the two costs three times as much for the few fields that are sent.
create or replace function merge_traits(kept jsonb, sent jsonb) returns jsonb
language plpgsql immutable parallel safe as $$
declare
  trait record;
  losing text[] := '{}';
begin
  -- Decompressed once, whatever the number of traits sent: the traits of a large contact are stored compressed.
  kept := kept || '{}';
  for trait in select key, value from jsonb_each(sent) loop
    -- Null when there is no trait to lose against.
    if trait_wins(trait.value, kept -> trait.key) is false then
      losing := losing || trait.key;
    end if;
  end loop;
  return kept || (sent - losing);
end
$$;

-- Merges tags up to 1,000 (rules/limits.ts), kept ones first.
create or replace function merge_tags(kept text[], sent text[]) returns text[]
language sql immutable parallel safe as $$
  select array(
    select tag from unnest(kept || sent) with ordinality as every (tag, place) group by tag order by min(place)
    limit greatest(1000, cardinality(kept))
  )
$$;

-- Adds tags for which the rules found room. Raises SL001 when another save has taken it.
create or replace function add_tags(kept text[], sent text[]) returns text[]
language plpgsql immutable parallel safe as $$
declare
  united text[] := merge_tags(kept, sent);
begin
  if cardinality(united) >= 1000 and not sent <@ united then
    raise exception 'a contact got other tags meanwhile' using errcode = 'SL001';
  end if;
  return united;
end
$$;

-- Merges the traits of two contacts. Of keys that were cleared and have no field, 1,000 stay (rules/limits.ts), kept
-- ones first.
create or replace function unite_traits(p_business uuid, kept jsonb, sent jsonb) returns jsonb
language plpgsql stable as $$
declare
  united jsonb := merge_traits(kept, sent);
begin
  -- There are at most 500 fields.
  if (select count(*) from jsonb_object_keys(united)) > 1000 then
    united := united - array(
      select t.key from jsonb_each(united) t
      where t.value ->> 1 is null and not exists (
        select from custom_fields f where f.business_id = p_business and f.key = t.key collate "C"
      )
      order by (kept ? t.key) desc, t.key collate "C" offset 1000
    );
  end if;
  return united;
end
$$;

-- Moves everything that contacts have to their survivors (decisions, "Merge arithmetic"): sums are added, firsts become
-- the earlier, lasts the later, and consent the more restrictive. The losers keep their rows, which name their
-- survivors for ever.
--   p_losers, p_survivors  parallel; no contact is in both, and the losers of one survivor are in the order of their
--                          merges
-- save_changes writes the profile of a survivor, which the rules combine.
-- Returns the contacts that now have another survivor: the losers, and all that were merged into them before.
-- The caller has locked all contacts, and all browsers of the losers.
create or replace function merge_contacts(p_business uuid, p_losers uuid[], p_survivors uuid[]) returns uuid[]
language plpgsql
-- The plan is not made for the one business: a business without statistics would be taken for empty, and its rows
-- scanned. Without nested loops the pairs are hashed, so that a table can be read in one way only, by the losers in its
-- index.
set enable_seqscan = off set enable_nestloop = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  merged record;
  -- Contacts that were merged into a loser earlier.
  followers uuid[];
  segment_changes text;
begin
  with lost as (
    delete from event_statistics where business_id = p_business and contact_id = any (p_losers) returning *
  )
  insert into event_statistics as kept (business_id, contact_id, event, first_at, last_at, count)
    select p_business, pair.survivor, event, min(first_at), max(last_at), sum(count)
    from lost join unnest(p_losers, p_survivors) as pair (loser, survivor) on pair.loser = lost.contact_id
    group by pair.survivor, event
  on conflict (business_id, contact_id, event) do update set
    first_at = least(kept.first_at, excluded.first_at),
    last_at = greatest(kept.last_at, excluded.last_at),
    count = kept.count + excluded.count;

  with lost as (
    delete from revenue where business_id = p_business and contact_id = any (p_losers) returning *
  )
  insert into revenue as kept (business_id, contact_id, currency, amount)
    select p_business, pair.survivor, currency, sum(amount)
    from lost join unnest(p_losers, p_survivors) as pair (loser, survivor) on pair.loser = lost.contact_id
    group by pair.survivor, currency
  on conflict (business_id, contact_id, currency) do update set amount = kept.amount + excluded.amount;

  with lost as (
    delete from subscriptions where business_id = p_business and contact_id = any (p_losers) returning *
  )
  insert into subscriptions as kept (business_id, contact_id, channel, subscribed, method, recorded_at)
    select distinct on (pair.survivor, channel) p_business, pair.survivor, channel, subscribed, method, recorded_at
    from lost join unnest(p_losers, p_survivors) with ordinality as pair (loser, survivor, place) on pair.loser = lost.contact_id
    order by pair.survivor, channel, subscribed, place
  on conflict (business_id, contact_id, channel) do update set
    subscribed = false, method = excluded.method, recorded_at = excluded.recorded_at
    where kept.subscribed and not excluded.subscribed;

  with lost as (
    delete from contact_visitors where business_id = p_business and contact_id = any (p_losers) returning *
  )
  insert into contact_visitors as kept (business_id, contact_id, visitor_id, linked_at, keyed, waits)
    select p_business, pair.survivor, visitor_id, min(linked_at), bool_or(keyed), bool_and(waits)
    from lost join unnest(p_losers, p_survivors) as pair (loser, survivor) on pair.loser = lost.contact_id
    group by pair.survivor, visitor_id
  on conflict (business_id, visitor_id, contact_id) do update set
    linked_at = least(kept.linked_at, excluded.linked_at),
    keyed = kept.keyed or excluded.keyed,
    waits = kept.waits and excluded.waits;

  update visitors set contact_id = pair.survivor
    from unnest(p_losers, p_survivors) as pair (loser, survivor)
    where business_id = p_business and contact_id = any (p_losers) and contact_id = pair.loser;
  update visitors set current_contact_id = pair.survivor
    from unnest(p_losers, p_survivors) as pair (loser, survivor)
    where business_id = p_business and current_contact_id = any (p_losers) and current_contact_id = pair.loser;
  update visitor_links set contact_id = pair.survivor
    from unnest(p_losers, p_survivors) as pair (loser, survivor)
    where business_id = p_business and contact_id = any (p_losers) and contact_id = pair.loser;
  update visitor_links set waits_for = pair.survivor
    from unnest(p_losers, p_survivors) as pair (loser, survivor)
    where business_id = p_business and waits_for = any (p_losers) and waits_for = pair.loser;
  update identifications set contact_id = pair.survivor
    from unnest(p_losers, p_survivors) as pair (loser, survivor)
    where business_id = p_business and contact_id = any (p_losers) and contact_id = pair.loser;
  update consent_history set contact_id = pair.survivor
    from unnest(p_losers, p_survivors) as pair (loser, survivor)
    where business_id = p_business and contact_id = any (p_losers) and contact_id = pair.loser;
  update enrolments set contact_id = pair.survivor
    from unnest(p_losers, p_survivors) as pair (loser, survivor)
    where business_id = p_business and contact_id = any (p_losers) and contact_id = pair.loser;
  -- A step that waits for a local time is looked at again, after what was due before: its zone may have changed, as in
  -- follow_zone. A branch counts both contacts: answers about only one of them are queried again, and an answer in
  -- progress is not accepted, because it was requested for another row.
  update due_steps set contact_id = pair.survivor, answers = null, asked_outbox_id = asked_outbox_id + 1,
      due_at = case when claim is null and message_id is null and attempts = 0 and not settled and not held
        and asked_outbox_id is null then least(due_at, greatest(began_at, now_ms())) else due_at end
    from unnest(p_losers, p_survivors) as pair (loser, survivor)
    where business_id = p_business and contact_id = any (p_losers) and contact_id = pair.loser;
  update due_steps set answers = null, asked_outbox_id = asked_outbox_id + 1
    where business_id = p_business and contact_id = any (p_survivors) and (answers is not null or asked_outbox_id is not null);
  update messages set contact_id = pair.survivor
    from unnest(p_losers, p_survivors) as pair (loser, survivor)
    where business_id = p_business and contact_id = any (p_losers) and contact_id = pair.loser;
  update deliveries set contact_id = pair.survivor
    from unnest(p_losers, p_survivors) as pair (loser, survivor)
    where business_id = p_business and contact_id = any (p_losers) and contact_id = pair.loser;
  update logged_messages set contact_id = pair.survivor
    from unnest(p_losers, p_survivors) as pair (loser, survivor)
    where business_id = p_business and contact_id = any (p_losers) and contact_id = pair.loser;

  -- The limit is per person, so the requests to all of them count. It reads the newest three (MAX_CONFIRMATIONS).
  with lost as (
    delete from confirmations where business_id = p_business and contact_id = any (p_losers) returning *
  )
  insert into confirmations as known (business_id, contact_id, asked_at)
    select p_business, pair.survivor, (array_agg(at order by at desc))[1:3]
    from lost l join unnest(p_losers, p_survivors) as pair (loser, survivor) on pair.loser = l.contact_id
      cross join unnest(l.asked_at) as at
    group by pair.survivor
  on conflict (business_id, contact_id) do update set asked_at = array(
    select at from unnest(known.asked_at || excluded.asked_at) as at order by at desc limit 3);

  with lost as (
    delete from chain_refusals where business_id = p_business and contact_id = any (p_losers) returning *
  )
  insert into chain_refusals as known (business_id, contact_id, campaign_id, at)
    select p_business, pair.survivor, l.campaign_id, max(l.at)
    from lost l join unnest(p_losers, p_survivors) as pair (loser, survivor) on pair.loser = l.contact_id
    group by pair.survivor, l.campaign_id
  on conflict (business_id, contact_id, campaign_id) do update set at = greatest(known.at, excluded.at);

  with lost as (
    delete from goal_times where business_id = p_business and contact_id = any (p_losers) returning *
  )
  insert into goal_times as known (business_id, contact_id, campaign_id, key, last_at)
    select p_business, pair.survivor, l.campaign_id, l.key, max(l.last_at)
    from lost l join unnest(p_losers, p_survivors) as pair (loser, survivor) on pair.loser = l.contact_id
    group by pair.survivor, l.campaign_id, l.key
  on conflict (business_id, contact_id, campaign_id, key) do update set last_at = greatest(known.last_at, excluded.last_at);
  if found then
    perform keep_goal_times(p_business, g.contact_id, g.campaign_id)
      from (select distinct contact_id, campaign_id from goal_times where business_id = p_business and contact_id = any (p_survivors)) g;
  end if;

  with lost as (
    delete from removed_tags where business_id = p_business and contact_id = any (p_losers) returning *
  )
  insert into removed_tags as known (business_id, contact_id, tag, removed_at)
    select p_business, pair.survivor, tag, max(removed_at)
    from lost join unnest(p_losers, p_survivors) as pair (loser, survivor) on pair.loser = lost.contact_id
    group by pair.survivor, tag
  on conflict (business_id, contact_id, tag) do update set removed_at = greatest(known.removed_at, excluded.removed_at);
  if found then
    perform keep_removed_tags(p_business, survivor) from (select distinct unnest(p_survivors) as survivor) every;
  end if;

  -- The rules have already removed the losers from their segments. This is for rows that the rules did not expect.
  delete from segment_clock where business_id = p_business and contact_id = any (p_losers);
  with lost as (
    delete from segment_windows where business_id = p_business and contact_id = any (p_losers) returning *
  )
  insert into segment_windows as kept (business_id, contact_id, key_hash, value, next_at)
    select p_business, pair.survivor, key_hash, sum(value), min(next_at)
    from lost join unnest(p_losers, p_survivors) as pair (loser, survivor) on pair.loser = lost.contact_id
    group by pair.survivor, key_hash
  on conflict (business_id, contact_id, key_hash) do update set
    value = kept.value + excluded.value,
    next_at = least(kept.next_at, excluded.next_at);
  with lost as (
    delete from segment_window_refreshes where business_id = p_business and contact_id = any (p_losers) returning *
  )
  insert into segment_window_refreshes as kept (business_id, contact_id, outbox_id, received_at, cause)
    select p_business, pair.survivor, outbox_id, min(received_at), max(cause)
    from lost join unnest(p_losers, p_survivors) as pair (loser, survivor) on pair.loser = lost.contact_id
    group by pair.survivor, outbox_id
  on conflict (business_id, contact_id, outbox_id) do update set
    received_at = least(kept.received_at, excluded.received_at),
    cause = greatest(kept.cause, excluded.cause);
  segment_changes := end_memberships(p_business, p_losers, (extract(epoch from clock_timestamp()) * 1000)::bigint, 'merge');
  if segment_changes is not null then
    insert into outbox (events, event_count, business_ids, contact_ids, changed, segment_changes)
      values ('', 0, '{}', '{}', '{}', segment_changes);
  end if;

  update identities set contact_id = pair.survivor
    from unnest(p_losers, p_survivors) as pair (loser, survivor)
    where business_id = p_business and contact_id = any (p_losers) and contact_id = pair.loser;
  perform unite_primaries(p_business, p_survivors);

  for merged in select * from unnest(p_losers, p_survivors) as x (loser, survivor) loop
    update contacts s set
      order_count = s.order_count + l.order_count,
      stage = greatest(s.stage, l.stage),
      keyed = s.keyed or l.keyed,
      tags = case when l.tags = '{}' then s.tags else merge_tags(s.tags, l.tags) end,
      traits = case when l.traits = '{}' then s.traits else unite_traits(p_business, s.traits, l.traits) end
    from contacts l
    where s.business_id = p_business and s.id = merged.survivor and l.business_id = p_business and l.id = merged.loser;
  end loop;

  with led as (
    update contacts c set merged_into = pair.survivor, revision = c.revision + 1
    from unnest(p_losers, p_survivors) as pair (loser, survivor)
    where business_id = p_business and merged_into = any (p_losers) and merged_into = pair.loser
    returning c.id
  )
  select array_agg(id) into followers from led;
  update contacts c set
    merged_into = pair.survivor, revision = c.revision + 1, version = c.version + 1, order_count = 0, stage = 0,
    tags = '{}', traits = '{}', first_name = null, last_name = null, country = null, city = null, language = null,
    timezone = null, page_filled = 0
  from unnest(p_losers, p_survivors) as pair (loser, survivor)
  where business_id = p_business and id = any (p_losers) and id = pair.loser;
  return p_losers || followers;
end
$$;
