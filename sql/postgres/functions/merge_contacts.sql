-- A trait is [epoch ms, JSON text or null when cleared]. The newer wins; at equal times a value beats a clearing, and of
-- two values the greater by the bytes of its JSON (decisions, "Traits and custom fields").
create or replace function trait_wins(sent jsonb, kept jsonb) returns boolean
language sql immutable parallel safe as $$
  select (sent ->> 0)::bigint > (kept ->> 0)::bigint
    or ((sent ->> 0)::bigint = (kept ->> 0)::bigint and sent ->> 1 is not null
      and (kept ->> 1 is null or (sent ->> 1) collate "C" > (kept ->> 1) collate "C"))
$$;

-- A loop: a query that joins the two costs three times as much for the few fields that are sent.
create or replace function merge_traits(kept jsonb, sent jsonb) returns jsonb
language plpgsql immutable parallel safe as $$
declare
  trait record;
  losing text[] := '{}';
begin
  -- Unpacked once, however many are sent: one of a large contact lies compressed.
  kept := kept || '{}';
  for trait in select key, value from jsonb_each(sent) loop
    -- Null when there is none to lose against.
    if trait_wins(trait.value, kept -> trait.key) is false then
      losing := losing || trait.key;
    end if;
  end loop;
  return kept || (sent - losing);
end
$$;

create or replace function merge_tags(kept text[], sent text[]) returns text[]
language sql immutable parallel safe as $$
  select array(
    select tag from unnest(kept || sent) with ordinality as every (tag, place) group by tag order by min(place)
  )
$$;

-- Moves everything that contacts have to those who survive them (decisions, "Merge arithmetic"): sums are added, firsts take
-- the earlier, lasts the later, consent the more restrictive. The losers keep their rows and name their survivors for ever.
--   p_losers, p_survivors  parallel; nobody is in both, and the losers of one survivor come in the order in which they fill its
--                          gaps
-- Answers who names another survivor now: the losers, and all that had been merged into them.
-- All contacts, and all browsers of the losers, are locked by the caller.
create or replace function merge_contacts(p_business uuid, p_losers uuid[], p_survivors uuid[]) returns uuid[]
language plpgsql
-- Not planned for the one business: one that is new to the statistics is taken for empty then, and read from end to end. And
-- without a nested loop the pairs are hashed: a table can be read in one way only, by the losers in its index.
set enable_seqscan = off set enable_nestloop = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  merged record;
  -- Had been merged into a loser.
  followers uuid[];
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
  insert into contact_visitors as kept (business_id, contact_id, visitor_id, linked_at)
    select p_business, pair.survivor, visitor_id, min(linked_at)
    from lost join unnest(p_losers, p_survivors) as pair (loser, survivor) on pair.loser = lost.contact_id
    group by pair.survivor, visitor_id
  on conflict (business_id, visitor_id, contact_id) do update set linked_at = least(kept.linked_at, excluded.linked_at);

  update visitors set contact_id = pair.survivor
    from unnest(p_losers, p_survivors) as pair (loser, survivor)
    where business_id = p_business and contact_id = any (p_losers) and contact_id = pair.loser;
  update visitors set current_contact_id = pair.survivor
    from unnest(p_losers, p_survivors) as pair (loser, survivor)
    where business_id = p_business and current_contact_id = any (p_losers) and current_contact_id = pair.loser;
  update visitor_links set contact_id = pair.survivor
    from unnest(p_losers, p_survivors) as pair (loser, survivor)
    where business_id = p_business and contact_id = any (p_losers) and contact_id = pair.loser;
  update identifications set contact_id = pair.survivor
    from unnest(p_losers, p_survivors) as pair (loser, survivor)
    where business_id = p_business and contact_id = any (p_losers) and contact_id = pair.loser;
  update enrolments set contact_id = pair.survivor
    from unnest(p_losers, p_survivors) as pair (loser, survivor)
    where business_id = p_business and contact_id = any (p_losers) and contact_id = pair.loser;
  update deliveries set contact_id = pair.survivor
    from unnest(p_losers, p_survivors) as pair (loser, survivor)
    where business_id = p_business and contact_id = any (p_losers) and contact_id = pair.loser;

  -- New positions, in the same order: the survivor's primary identities stay primary. Materialized: numbered once.
  with numbered as materialized (
    select kind, value, survivor, nextval('identities_position_seq') as position
    from (
      select kind, value, pair.survivor
      from identities
      join unnest(p_losers, p_survivors) with ordinality as pair (loser, survivor, place) on pair.loser = contact_id
      where business_id = p_business and contact_id = any (p_losers)
      order by place, position
    ) in_order
  )
  update identities i set contact_id = numbered.survivor, position = numbered.position
    from numbered
    where i.business_id = p_business and i.contact_id = any (p_losers) and i.kind = numbered.kind and i.value = numbered.value;

  for merged in select * from unnest(p_losers, p_survivors) as x (loser, survivor) loop
    update contacts s set
      order_count = s.order_count + l.order_count,
      stage = greatest(s.stage, l.stage),
      keyed = s.keyed or l.keyed,
      tags = case when l.tags = '{}' then s.tags else merge_tags(s.tags, l.tags) end,
      traits = case when l.traits = '{}' then s.traits else merge_traits(s.traits, l.traits) end,
      first_name = coalesce(s.first_name, l.first_name),
      last_name = coalesce(s.last_name, l.last_name),
      country = coalesce(s.country, l.country),
      city = coalesce(s.city, l.city),
      language = coalesce(s.language, l.language),
      timezone = coalesce(s.timezone, l.timezone)
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
    timezone = null
  from unnest(p_losers, p_survivors) as pair (loser, survivor)
  where business_id = p_business and id = any (p_losers) and id = pair.loser;
  return p_losers || followers;
end
$$;
