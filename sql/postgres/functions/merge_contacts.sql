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

-- Moves everything that one contact has to another (decisions, "Merge arithmetic"): sums are added, firsts take the
-- earlier, lasts the later, consent the more restrictive. The loser keeps its row and names the survivor for ever.
-- Both rows are locked by the caller; their browsers are locked here, in no order. A deadlock with a web batch that sees the
-- same ones (see_visitors) is decided again.
create or replace function merge_contacts(p_business uuid, p_loser uuid, p_survivor uuid) returns void
language plpgsql
-- Rare, and planned afresh for what the tables are by now.
set plan_cache_mode = force_custom_plan
as $$
begin
  insert into event_statistics as kept (business_id, contact_id, event, first_at, last_at, count)
    select business_id, p_survivor, event, first_at, last_at, count from event_statistics
    where business_id = p_business and contact_id = p_loser
  on conflict (business_id, contact_id, event) do update set
    first_at = least(kept.first_at, excluded.first_at),
    last_at = greatest(kept.last_at, excluded.last_at),
    count = kept.count + excluded.count;
  delete from event_statistics where business_id = p_business and contact_id = p_loser;

  insert into revenue as kept (business_id, contact_id, currency, amount)
    select business_id, p_survivor, currency, amount from revenue
    where business_id = p_business and contact_id = p_loser
  on conflict (business_id, contact_id, currency) do update set amount = kept.amount + excluded.amount;
  delete from revenue where business_id = p_business and contact_id = p_loser;

  insert into subscriptions as kept (business_id, contact_id, channel, subscribed, method, recorded_at)
    select business_id, p_survivor, channel, subscribed, method, recorded_at from subscriptions
    where business_id = p_business and contact_id = p_loser
  on conflict (business_id, contact_id, channel) do update set
    subscribed = false, method = excluded.method, recorded_at = excluded.recorded_at
    where kept.subscribed and not excluded.subscribed;
  delete from subscriptions where business_id = p_business and contact_id = p_loser;

  insert into contact_visitors as kept (business_id, contact_id, visitor_id, linked_at)
    select business_id, p_survivor, visitor_id, linked_at from contact_visitors
    where business_id = p_business and contact_id = p_loser
  on conflict (business_id, visitor_id, contact_id) do update set linked_at = least(kept.linked_at, excluded.linked_at);
  delete from contact_visitors where business_id = p_business and contact_id = p_loser;
  update visitors set contact_id = p_survivor where business_id = p_business and contact_id = p_loser;
  update visitors set current_contact_id = p_survivor where business_id = p_business and current_contact_id = p_loser;
  update visitor_links set contact_id = p_survivor where business_id = p_business and contact_id = p_loser;

  update identifications set contact_id = p_survivor where business_id = p_business and contact_id = p_loser;
  update enrolments set contact_id = p_survivor where business_id = p_business and contact_id = p_loser;
  update deliveries set contact_id = p_survivor where business_id = p_business and contact_id = p_loser;
  -- New positions, in the same order: the survivor's primary identities stay primary.
  update identities i set contact_id = p_survivor, position = moved.position
  from (
    select kind, value, nextval('identities_position_seq') as position
    from (
      select kind, value from identities where business_id = p_business and contact_id = p_loser order by position
    ) in_order
  ) moved
  where i.business_id = p_business and i.kind = moved.kind and i.value = moved.value;

  update contacts s set
    order_count = s.order_count + l.order_count,
    stage = greatest(s.stage, l.stage),
    keyed = s.keyed or l.keyed,
    tags = merge_tags(s.tags, l.tags),
    traits = merge_traits(s.traits, l.traits),
    first_name = coalesce(s.first_name, l.first_name),
    last_name = coalesce(s.last_name, l.last_name),
    country = coalesce(s.country, l.country),
    city = coalesce(s.city, l.city),
    language = coalesce(s.language, l.language),
    timezone = coalesce(s.timezone, l.timezone)
  from contacts l
  where s.business_id = p_business and s.id = p_survivor and l.business_id = p_business and l.id = p_loser;

  -- The loser, and all that had been merged into it, name the survivor.
  update contacts set merged_into = p_survivor, revision = revision + 1
    where business_id = p_business and merged_into = p_loser;
  update contacts set
    merged_into = p_survivor, revision = revision + 1, version = version + 1, order_count = 0, stage = 0,
    tags = '{}', traits = '{}', first_name = null, last_name = null, country = null, city = null, language = null,
    timezone = null
  where business_id = p_business and id = p_loser;
end
$$;
