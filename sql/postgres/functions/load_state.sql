-- Loads everything that one micro-batch needs to know, in one round trip.
--   p_identities  business_id, kind, value: fields sent
--   p_keys        business_id, key_hash: idempotency keys sent
--   p_visitors    [{ business_id, visitor_id, moments, starts, joins, names }]: visitors named. Loads the contact that was
--                 identified last until each of the starts, and the moments (one for each start) at which a person who
--                 has been erased since used the browser. All instants are epoch ms. With `joins`, also loads the
--                 contacts that list the visitor, and its events from before the identification, and
--                 all of those with one of the names
--   p_contacts    business_id, id: contacts named
--   p_goals       [{ business_id, event, campaign_id }]: goal events of the published campaigns; without an event: a
--                 campaign whose goal has conditions that do not compare keys
--   p_enrolling   ids of the businesses that have ever published a campaign: of the others no enrolments are read
--   p_most_contacts  number of contacts to read of those that list a browser; none for a crowded browser
--   p_in_full     ids of the contacts whose tags, and whose cleared traits without a field, are read
--   p_most_browsers  limit for counting each contact's browsers, and those that wait; null: no count
--   p_topical     ids of the businesses that have topics: of the others no choices of topics are read
--   p_keyed       those of them that have campaigns with keys: of these enrolments, the active ones are read
--   p_watched     what the segments of businesses read from their contacts (load_watched); null: nothing is read for
--                 segments
-- The long lists are columns, array literals in this order; all others are JSON. Null when a list is empty.
-- Returns { contacts, keys, visitors, watched }. A merged contact that is named is returned as its survivor. A contact
-- is an array and not an object, and its lists have no order: naming, sorting and filtering cost more here than in the
-- worker.
-- Only what was requested is looked up, part by part: for few probes, setting up a statement costs more than the
-- probes. All parts see the same moment, that of the call, because the function is stable. `array` replaces json_agg
-- because an aggregate is expensive to set up.
-- Each lookup is a probe of an index by its whole key: a lateral sub-query with a limit cannot be turned into a join,
-- so a plan that was made while a table was empty cannot become a scan as it grows.
create or replace function load_state(
  p_identities text[], p_keys text[], p_visitors json, p_contacts text[], p_goals json,
  p_enrolling uuid[], p_most_contacts integer, p_in_full uuid[], p_most_browsers integer, p_watched json,
  -- A process of an earlier version does not send it.
  p_topical uuid[] default null,
  p_keyed uuid[] default null
) returns json
language plpgsql stable
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  -- Contacts to return. The first ones, as many as were named, are returned in full.
  businesses uuid[];
  ids uuid[];
  named integer := 0;
  contacts json[];
  keys json[];
  visitors json[];
  watched json;
begin
  if p_contacts is not null then
    select array_agg(sent.business_id), array_agg(known.id), count(*) into businesses, ids, named
    from unnest(p_contacts[1]::uuid[], p_contacts[2]::uuid[]) as sent (business_id, id)
    cross join lateral (
      select coalesce(c.merged_into, c.id) as id from contacts c
      where c.business_id = sent.business_id and c.id = sent.id
      limit 1
    ) known;
  end if;
  if p_identities is not null then
    select businesses || array_agg(sent.business_id), ids || array_agg(held.contact_id) into businesses, ids
    from unnest(p_identities[1]::uuid[], p_identities[2]::text[], p_identities[3]::text[]) as sent (business_id, kind, value)
    cross join lateral (
      select i.contact_id from identities i
      where i.business_id = sent.business_id and i.kind = sent.kind collate "C" and i.value = sent.value collate "C"
      limit 1
    ) held;
  end if;
  if p_visitors is not null then
    select businesses || array_agg(spoke.business_id), ids || array_agg(held.contact_id) into businesses, ids
    from json_to_recordset(p_visitors) as spoke (business_id uuid, visitor_id text, starts bigint[])
    cross join lateral unnest(spoke.starts) as start
    cross join lateral (
      select l.contact_id from visitor_links l
      where l.business_id = spoke.business_id and l.visitor_id = spoke.visitor_id collate "C" and l.from_at <= start
      order by l.from_at desc limit 1
    ) held
    where held.contact_id is not null;
    visitors := array(
      select json_build_object('business_id', sent.business_id, 'visitor_id', sent.visitor_id,
        'current', v.current_contact_id,
        'crowded', coalesce(v.crowded, false),
        'waits', coalesce(v.waits, false),
        'newest', (
          select json_build_array(l.from_at, l.contact_id, coalesce(l.identified_at, l.from_at), l.waits_for)
          from visitor_links l
          where l.business_id = sent.business_id and l.visitor_id = sent.visitor_id collate "C"
          order by l.from_at desc limit 1
        ),
        'links', (
          select json_agg(json_build_array(from_at, contact_id, coalesce(identified_at, from_at), waits_for) order by from_at)
          from (
            select distinct held.from_at, held.contact_id, held.identified_at, held.waits_for
            from unnest(sent.starts) as start
            cross join lateral (
              select l.from_at, l.contact_id, l.identified_at, l.waits_for from visitor_links l
              where l.business_id = sent.business_id and l.visitor_id = sent.visitor_id collate "C" and l.from_at <= start
              order by l.from_at desc limit 1
            ) held
          ) holders
        ),
        'erased_until', (
          select max(e.to_at) from erased_visits e
          where e.business_id = sent.business_id and e.visitor_id = sent.visitor_id collate "C"
        ),
        'erased_at', (
          select json_agg(moment) from unnest(sent.moments, sent.starts) as asked (moment, start)
          where exists (
            select from erased_visits e
            where e.business_id = sent.business_id and e.visitor_id = sent.visitor_id collate "C"
              and e.from_at <= start and moment < e.to_at
          )
        ),
        'history', case when sent.joins then (
          select json_agg(json_build_array(event, first_at, last_at, count, received_at))
          from (
            select e.event, min(e.occurred_at) as first_at, max(e.occurred_at) as last_at, count(*) as count,
              max(e.received_at) as received_at
            from visitor_events e
            where e.business_id = sent.business_id and e.visitor_id = sent.visitor_id collate "C"
            group by e.event
          ) named
        ) end,
        'named', case when sent.joins and sent.names is not null then (
          select json_agg(json_build_array(e.received_at, e.line::json) order by e.received_at, e.event_id)
          from visitor_events e
          where e.business_id = sent.business_id and e.visitor_id = sent.visitor_id collate "C" and e.event = any (sent.names)
        ) end,
        'listed_by', case when sent.joins and v.crowded is not true then (
          select json_agg(json_build_array(contact_id, keyed, waits))
          from (
            select l.contact_id, l.keyed, l.waits from contact_visitors l
            where l.business_id = sent.business_id and l.visitor_id = sent.visitor_id collate "C"
            limit p_most_contacts
          ) known
        ) end)
      from json_to_recordset(p_visitors) as sent (business_id uuid, visitor_id text, moments bigint[],
        starts bigint[], joins boolean, names text[])
      left join lateral (
        select v.current_contact_id, v.crowded, v.waits from visitors v
        where v.business_id = sent.business_id and v.visitor_id = sent.visitor_id collate "C"
        limit 1
      ) v on true
    );
  end if;
  if ids is not null then
    contacts := array(
      -- Materialized so that it is not read again for each contact.
      with goals as materialized (
        select * from json_to_recordset(p_goals) as g (business_id uuid, event text, campaign_id uuid)
      )
      select json_build_array(
        c.business_id, c.id, c.created_at, c.version, c.keyed, c.stage,
        json_build_array(c.first_name, c.last_name, c.country, c.city, c.language, c.timezone),
        c.page_filled,
        array(
          select json_build_array(i.position, i.kind, i.value, i.proven, i.is_primary)
          from identities i where i.business_id = c.business_id and i.contact_id = c.id
        ),
        case when c.business_id = any (p_enrolling) then array(
          select json_build_object('id', e.id, 'campaign_id', e.campaign_id, 'version', e.version, 'state', e.state,
            'enrolled_at', e.enrolled_at, 'received_at', e.received_at, 'ended_at', e.ended_at, 'chain', e.chain)
          from only enrolments e where e.business_id = c.business_id and e.contact_id = c.id
        ) || case when c.business_id = any (p_keyed) then array(
          select json_build_object('id', e.id, 'campaign_id', e.campaign_id, 'version', e.version, 'state', e.state,
            'enrolled_at', e.enrolled_at, 'received_at', e.received_at, 'ended_at', e.ended_at, 'chain', e.chain, 'key', e.key)
          from only keyed_enrolments e where e.business_id = c.business_id and e.contact_id = c.id and e.state = 'active'
        ) end end,
        case when p_goals is not null then array(
          select json_build_array(g.event, reached.last_at)
          from goals g
          cross join lateral (
            select s.last_at from event_statistics s
            where s.business_id = c.business_id and s.contact_id = c.id and s.event = g.event collate "C"
            limit 1
          ) reached
          where g.business_id = c.business_id and g.event is not null
        ) || array(
          select json_build_array(null, reached.last_at, g.campaign_id)
          from goals g
          cross join lateral (
            select t.last_at from goal_times t
            where t.business_id = c.business_id and t.contact_id = c.id and t.campaign_id = g.campaign_id and t.key = ''
            limit 1
          ) reached
          where g.business_id = c.business_id and g.campaign_id is not null
        ) end,
        array(
          select json_build_array(s.channel, s.subscribed, s.recorded_at)
          from subscriptions s where s.business_id = c.business_id and s.contact_id = c.id
        ),
        case when f.place <= named then array(
          select l.id from contacts l where l.business_id = c.business_id and l.merged_into = c.id
        ) end,
        -- Many tags are not decompressed for an event that may not add any.
        case when c.id = any (p_in_full) then to_json(c.tags)
          when pg_column_size(c.tags) < 1000 then to_json(cardinality(c.tags)) end,
        case when c.id = any (p_in_full) then array(
          select t.key from jsonb_each(c.traits) t
          where t.value ->> 1 is null and not exists (
            select from custom_fields f where f.business_id = c.business_id and f.key = t.key collate "C"
          )
        ) end,
        case when p_most_browsers is not null then json_build_array(
          (
            select count(*) from (
              select from contact_visitors l
              where l.business_id = c.business_id and l.contact_id = c.id and not l.waits
              limit p_most_browsers
            ) listed
          ), (
            select count(*) from (
              select from contact_visitors l
              where l.business_id = c.business_id and l.contact_id = c.id and l.waits
              limit p_most_browsers
            ) waiting
          )
        ) end,
        case when c.business_id = any (p_topical) then array(
          select json_build_array(t.topic, t.channel, t.subscribed, t.recorded_at)
          from topic_choices t where t.business_id = c.business_id and t.contact_id = c.id
        ) end
      )
      from (
        select business_id, contact_id, min(place) as place
        from unnest(businesses, ids) with ordinality as either (business_id, contact_id, place)
        group by business_id, contact_id
      ) f
      cross join lateral (
        select * from contacts c where c.business_id = f.business_id and c.id = f.contact_id limit 1
      ) c
    );
    if p_watched is not null then
      select load_watched(array_agg(f.business_id), array_agg(f.contact_id), p_watched, false) into watched
      from (select distinct business_id, contact_id from unnest(businesses, ids) as either (business_id, contact_id)) f;
    end if;
  end if;
  if p_keys is not null then
    keys := array(
      select json_build_object('business_id', sent.business_id, 'key_hash', sent.key_hash,
        'occurred_at', k.occurred_at, 'event', k.event, 'removed_tags', (
          -- Since the event was recorded: an event is dated at most 5 minutes ahead.
          select json_agg(r.tag) from removed_tags r
          where r.business_id = sent.business_id and r.removed_at >= k.occurred_at - 300000 and r.contact_id = coalesce(
            (select c.merged_into from contacts c where c.business_id = sent.business_id and c.id = k.contact_id), k.contact_id)
        ), 'erased_as', (
          select e.erased_as from erasures e where e.business_id = sent.business_id and e.contact_id = k.contact_id
        ))
      from unnest(p_keys[1]::uuid[], p_keys[2]::uuid[]) as sent (business_id, key_hash)
      cross join lateral (
        select k.occurred_at, k.contact_id, k.event from idempotency_keys k
        where k.business_id = sent.business_id and k.key_hash = sent.key_hash
        limit 1
      ) k
    );
  end if;
  return json_build_object('contacts', contacts, 'keys', keys, 'visitors', visitors, 'watched', watched);
end
$$;
