-- Writes everything that one micro-batch decided, together with the position that it moves to: one statement, one
-- transaction.
-- It is called in named notation (src/contacts/save/save-parameters.ts). A list is null when it is empty. Short lists are
-- JSON arrays of records, named and typed where they are read below. Long lists are arrays of columns, which Postgres
-- turns into rows with far less work; save-parameters.ts names the columns, in the order in which they are unnested
-- here.
-- A contact occurs once, in p_contact_ids. Other lists refer to it by its place there, which is read several times as
-- fast as two uuids. The first contacts, as many as p_changed is long, are changed; the others were only looked at.
-- Returns true when everything was written. Returns false when the position was not p_from at this epoch. Returns null
-- when p_keys_unasked is set (few keys, assumed to be new) and one of p_keys exists. In the last two cases, nothing is
-- written.
-- With p_repeated, the entries were applied before, in commits that a failover of Postgres has lost. ClickHouse may have
-- some of it: it is compared before anything is sent, and its snapshots are replaced.
-- Without p_partition, no position is moved: the segment worker saves what time has changed.
-- Raises SL001 when something differs from what the decision assumed: the caller loads and decides again.
-- With p_dry_run, it raises SL003 instead of committing. This finds the item that causes a data error.
-- Tables are probed only by whole keys (laterals, upserts, single rows), see load_state, or by the places of rows that
-- are locked.
-- A new feature adds one parameter and one function of its own, as deliveries do.
create or replace function save_changes(
  p_partition text, p_epoch bigint, p_from text, p_to text, p_attempt uuid, p_dry_run boolean,
  -- Configuration.
  p_businesses text[], p_new_fields json,
  -- Contacts: which ones, what was assumed about them, and what they get.
  p_contact_businesses uuid[], p_contact_ids uuid[], p_changed boolean[], p_assumed text[], p_raised integer[],
  p_new_contacts text[], p_known_contacts text[],
  p_released json, p_kept_identities json, p_new_identities text[], p_primaries json, p_merges text[], p_merge_log json,
  p_statistics text[], p_revenue text[], p_subscriptions json, p_past_choices json, p_edits json, p_erasures json,
  -- Idempotency keys.
  p_keys text[], p_keys_unasked boolean,
  -- Visitors.
  p_sightings json, p_visitors json, p_visitor_links json, p_link_steps json, p_visitor_events json,
  p_listed_visitors json, p_identifications json,
  -- Campaigns and deliveries.
  p_new_enrolments json, p_ended_enrolments json, p_first_steps json, p_applied_steps json, p_awaited_events json,
  p_message_events json, p_deliveries json,
  -- Segments.
  p_membership_rules text[], p_memberships text[], p_clocks text[], p_windows json, p_window_refreshes json, p_done_refreshes json,
  -- The timeline, and items that could not be applied.
  p_events text, p_event_count integer, p_dead_letters json, p_replayed json, p_repeated boolean,
  -- Topics. A process of an earlier version does not send them.
  p_topics json default null,
  -- Campaigns with keys. With defaults: processes of the version before do not name them.
  p_keyed_enrolments json default null, p_followed_triggers json default null, p_goal_times json default null
) returns boolean
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  changed record;
  is_outdated boolean;
  -- Contacts whose survivor is now another one.
  merged record;
  touched_businesses uuid[] := p_contact_businesses[:cardinality(p_changed)];
  touched uuid[] := p_contact_ids[:cardinality(p_changed)];
  segment_changes text;
  outbox_id bigint;
  -- The places of rows: of the contacts in p_assumed, and of the statistics in p_statistics (null: there is none).
  held tid[];
  counted tid[];
  written integer;
  -- Numbers in the order of the decisions: of identities that are added or proven, and of addresses made primary.
  turns bigint[];
begin
  -- An error would report the same, but would also be logged for each request that is sent again.
  if p_keys_unasked then
    perform from unnest(p_keys[1]::uuid[], p_keys[2]::uuid[]) as sent (business_id, key_hash)
      cross join lateral (
        select from idempotency_keys k where k.business_id = sent.business_id and k.key_hash = sent.key_hash limit 1
      ) known;
    if found then
      return null;
    end if;
  end if;

  if p_partition is not null then
    update positions set position = p_to, attempt = p_attempt, moved_at = now()
      where partition = p_partition and epoch = p_epoch and position = p_from;
    if not found then
      return false;
    end if;
  end if;

  -- Checks that the configuration that was read is still in force. A publish waits for this save, and the next save
  -- sees it. The rows are sorted, and each is locked once, as strongly as needed, so that two saves queue up for them
  -- and do not deadlock.
  if p_new_fields is null then
    perform 1 from unnest(p_businesses[1]::uuid[], p_businesses[2]::bigint[]) as x (id, version)
      left join lateral (
        select b.id from businesses b where b.id = x.id and b.config_version = x.version for share
      ) held on true
      where held.id is null;
    is_outdated := found;
  else
    for changed in
      select id, version, new_fields
      from unnest(p_businesses[1]::uuid[], p_businesses[2]::bigint[], p_businesses[3]::integer[]) as x (id, version, new_fields)
    loop
      if changed.new_fields > 0 then
        update businesses set config_version = config_version + 1, field_count = field_count + changed.new_fields
          where id = changed.id and config_version = changed.version;
      else
        perform 1 from businesses b where b.id = changed.id and b.config_version = changed.version for share;
      end if;
      is_outdated := not found;
      exit when is_outdated;
    end loop;
  end if;
  if is_outdated then
    raise exception 'the configuration of a business changed meanwhile' using errcode = 'SL001';
  end if;
  if p_new_fields is not null then
    insert into custom_fields (business_id, key, type, created_at)
      select business_id, key, type, created_at
      from json_to_recordset(p_new_fields) as x (business_id uuid, key text, type text, created_at bigint);
  end if;

  -- Checks that every contact that the decision looked at is unchanged: not merged, not erased, same version. They are
  -- sorted, so that two saves queue up for them and do not deadlock.
  if p_assumed is not null then
    held := array(
      select locked.ctid
      from unnest(p_assumed[1]::integer[], p_assumed[2]::bigint[]) as x (place, version)
      left join lateral (
        select c.ctid from contacts c
        where c.business_id = p_contact_businesses[x.place] and c.id = p_contact_ids[x.place]
          and c.version = x.version and c.merged_into is null
        for no key update
      ) locked on true
    );
    if array_position(held, null) is not null then
      raise exception 'a contact changed meanwhile' using errcode = 'SL001';
    end if;
  end if;

  -- A fact that segments read has changed: another partition must not decide without it. The rows are locked, so they
  -- stay where they are. A single statement for both would miss rows that it had to wait for, because these have moved.
  if p_raised is not null then
    update contacts set version = version + 1 where ctid = any (array(
      select held.ctid from unnest(p_raised) as place
      cross join lateral (
        select c.ctid from contacts c where c.business_id = p_contact_businesses[place] and c.id = p_contact_ids[place] limit 1
      ) held
    ));
  end if;

  -- New contacts are inserted complete.
  if p_new_contacts is not null then
    insert into contacts (business_id, id, created_at, keyed, merged_into, stage, order_count, tags, traits,
        first_name, last_name, country, city, language, timezone, page_filled)
      select p_contact_businesses[place], p_contact_ids[place], created_at, keyed, merged_into, stage, orders,
        tags::text[], traits, first_name, last_name, country, city, language, timezone, coalesce(page_filled, 0)
      from unnest(p_new_contacts[1]::integer[], p_new_contacts[2]::bigint[], p_new_contacts[3]::uuid[],
        p_new_contacts[4]::boolean[], p_new_contacts[5]::smallint[], p_new_contacts[6]::bigint[],
        p_new_contacts[7]::text[], p_new_contacts[8]::jsonb[], p_new_contacts[9]::text[], p_new_contacts[10]::text[],
        p_new_contacts[11]::text[], p_new_contacts[12]::text[], p_new_contacts[13]::text[], p_new_contacts[14]::text[],
        p_new_contacts[15]::smallint[]
      ) as x (place, created_at, merged_into, keyed, stage, orders, tags, traits,
        first_name, last_name, country, city, language, timezone, page_filled);
  end if;
  -- Known ones get what they lacked. `raised` is the increase of the version.
  if p_known_contacts is not null then
    update contacts c set
      version = c.version + x.raised,
      revision = c.revision + 1,
      keyed = c.keyed or x.keyed,
      stage = greatest(c.stage, x.stage),
      order_count = c.order_count + x.orders,
      tags = case when x.tags = '{}' then c.tags else add_tags(c.tags, x.tags::text[]) end,
      traits = case when x.traits = '{}' then c.traits else merge_traits(c.traits, x.traits) end,
      first_name = coalesce(x.first_name, c.first_name),
      last_name = coalesce(x.last_name, c.last_name),
      country = coalesce(x.country, c.country),
      city = coalesce(x.city, c.city),
      language = coalesce(x.language, c.language),
      timezone = coalesce(x.timezone, c.timezone),
      page_filled = coalesce(x.page_filled, 0)
    from unnest(p_known_contacts[1]::integer[], p_known_contacts[2]::bigint[], p_known_contacts[3]::boolean[],
      p_known_contacts[4]::smallint[], p_known_contacts[5]::bigint[], p_known_contacts[6]::text[],
      p_known_contacts[7]::jsonb[], p_known_contacts[8]::text[], p_known_contacts[9]::text[],
      p_known_contacts[10]::text[], p_known_contacts[11]::text[], p_known_contacts[12]::text[],
      p_known_contacts[13]::text[], p_known_contacts[14]::smallint[]
    ) as x (assumed, raised, keyed, stage, orders, tags, traits,
      first_name, last_name, country, city, language, timezone, page_filled)
    where c.ctid = held[x.assumed];
    get diagnostics written = row_count;
    if written <> cardinality(p_known_contacts[1]::integer[]) then
      raise exception 'a contact changed meanwhile' using errcode = 'SL001';
    end if;
  end if;
  -- Identities that leave their contact do so first, because a contact has one customer id.
  if p_released is not null then
    for changed in select business_id, kind, value
      from json_to_recordset(p_released) as x (business_id uuid, kind text, value text)
    loop
      delete from identities i
        where i.business_id = changed.business_id and i.kind = changed.kind collate "C"
          and i.value = changed.value collate "C";
    end loop;
  end if;
  if p_ended_enrolments is not null then
    for changed in select business_id, contact_id, id, version, state, ended_at
      from json_to_recordset(p_ended_enrolments) as x (business_id uuid, contact_id uuid, id uuid, version integer, state text,
        ended_at bigint)
    loop
      update enrolments e set state = changed.state, ended_at = changed.ended_at, event_name = null, event_properties = null
        where e.business_id = changed.business_id and e.contact_id = changed.contact_id and e.id = changed.id;
      -- If a message is being sent, its sender settles it and then removes the row.
      if changed.version is not null then
        delete from due_steps d
          where d.business_id = changed.business_id and d.enrolment_id = changed.id and d.message_id is null;
      end if;
    end loop;
  end if;
  -- Before the merges, because a merged contact leaves its segments first.
  if p_memberships is not null then
    segment_changes := change_memberships(p_contact_businesses, p_contact_ids, p_membership_rules, p_memberships);
  end if;
  if p_clocks is not null then
    perform move_clocks(p_contact_businesses, p_contact_ids, p_clocks);
  end if;
  if p_windows is not null then
    perform change_windows(p_windows);
  end if;
  -- First locks every visitor named here, in order, because other partitions see them too.
  if p_merges is not null or p_link_steps is not null then
    p_sightings := add_affected_visitors(p_sightings, p_contact_businesses, p_contact_ids, p_merges, p_link_steps);
  end if;
  if p_sightings is not null then
    perform see_visitors(p_sightings);
  end if;
  if p_link_steps is not null then
    perform settle_links(p_link_steps, p_visitors);
  end if;
  if p_merges is not null then
    for merged in
      select business_id, contact_id from merge_all(p_contact_businesses, p_contact_ids, p_merges)
    loop
      touched := touched || merged.contact_id;
      touched_businesses := touched_businesses || merged.business_id;
      p_changed := p_changed || true;
    end loop;
  end if;
  if p_kept_identities is not null or p_new_identities is not null or p_primaries is not null then
    turns := array(select nextval('identities_position_seq') from generate_series(1, greatest(
      (select max(nth) from json_to_recordset(p_kept_identities) as x (nth integer)),
      (select max(greatest(nth, turn)) from unnest(p_new_identities[6]::integer[], p_new_identities[7]::integer[]) as x (nth, turn)),
      (select max(turn) from json_to_recordset(p_primaries) as x (turn integer))
    )));
  end if;
  if p_kept_identities is not null then
    insert into identities as i (business_id, kind, value, contact_id, proven, phone_read, position)
      select business_id, kind, value, contact_id, proven, phone_read, turns[nth]
      from json_to_recordset(p_kept_identities) as x (business_id uuid, kind text, value text, contact_id uuid,
        proven boolean, phone_read boolean, nth integer)
    on conflict (business_id, kind, value) do update set
      proven = excluded.proven, phone_read = i.phone_read or excluded.phone_read,
      -- From its proof on, it is behind those that were proven before.
      position = case when excluded.proven and not i.proven then excluded.position else i.position end;
  end if;

  -- If another save has recorded an identity, a key or a visitor in the meantime, this is a unique violation, and the
  -- batch is decided again. Rows are inserted sorted.
  if p_new_identities is not null then
    insert into identities (business_id, kind, value, contact_id, proven, phone_read, position, is_primary, named)
      select p_contact_businesses[place] as business_id, kind, value, p_contact_ids[place], proven, phone_read,
        turns[nth], turn is not null, turns[turn]
      from unnest(p_new_identities[1]::integer[], p_new_identities[2]::text[], p_new_identities[3]::text[],
        p_new_identities[4]::boolean[], p_new_identities[5]::boolean[], p_new_identities[6]::integer[],
        p_new_identities[7]::integer[]
      ) as x (place, kind, value, proven, phone_read, nth, turn)
      order by business_id, kind collate "C", value collate "C";
  end if;
  if p_primaries is not null then
    perform set_primaries(p_primaries, turns);
  end if;
  if p_statistics is not null then
    -- Its contact is locked, so a row that is found stays where it is, and none is added. A new contact has none, unless
    -- a merge above has given it those of another one.
    counted := array(
      select stored.ctid
      from unnest(p_statistics[1]::integer[], p_statistics[2]::boolean[], p_statistics[3]::text[]) as x (place, of_new, event)
      left join lateral (
        select s.ctid from event_statistics s
        where (p_merges is not null or not x.of_new)
          and s.business_id = p_contact_businesses[x.place] and s.contact_id = p_contact_ids[x.place] and s.event = x.event collate "C"
        limit 1
      ) stored on true
    );
    update event_statistics s set
      first_at = least(s.first_at, x.first_at), last_at = greatest(s.last_at, x.last_at), count = s.count + x.count
      from unnest(p_statistics[1]::integer[], p_statistics[2]::boolean[], p_statistics[3]::text[],
        p_statistics[4]::bigint[], p_statistics[5]::bigint[], p_statistics[6]::bigint[]
      ) with ordinality as x (place, of_new, event, first_at, last_at, count, nth)
      where s.ctid = counted[x.nth];
    get diagnostics written = row_count;
    if written <> cardinality(array_remove(counted, null)) then
      raise exception 'statistics changed meanwhile' using errcode = 'SL001';
    end if;
    insert into event_statistics (business_id, contact_id, event, first_at, last_at, count)
      select p_contact_businesses[place], p_contact_ids[place], event, first_at, last_at, count
      from unnest(p_statistics[1]::integer[], p_statistics[2]::boolean[], p_statistics[3]::text[],
        p_statistics[4]::bigint[], p_statistics[5]::bigint[], p_statistics[6]::bigint[]
      ) with ordinality as x (place, of_new, event, first_at, last_at, count, nth)
      where counted[x.nth] is null;
  end if;
  if p_revenue is not null then
    insert into revenue as kept (business_id, contact_id, currency, amount)
      select p_contact_businesses[place], p_contact_ids[place], currency, amount
      from unnest(p_revenue[1]::integer[], p_revenue[2]::text[], p_revenue[3]::numeric[]) as x (place, currency, amount)
    on conflict (business_id, contact_id, currency) do update set amount = kept.amount + excluded.amount;
  end if;

  if p_keys is not null then
    insert into idempotency_keys (business_id, key_hash, contact_id, occurred_at, event)
      select business_id, key_hash, contact_id, occurred_at, event
      from unnest(p_keys[1]::uuid[], p_keys[2]::uuid[], p_keys[3]::uuid[], p_keys[4]::bigint[], p_keys[5]::text[]
      ) as x (business_id, key_hash, contact_id, occurred_at, event);
  end if;
  if p_visitors is not null then
    perform link_visitors(p_visitors, p_visitor_links);
  end if;
  if p_visitor_events is not null then
    perform keep_visitor_events(p_visitor_events);
  end if;
  if p_listed_visitors is not null then
    perform list_visitors(p_listed_visitors);
  end if;
  if p_identifications is not null then
    insert into identifications (business_id, contact_id, id, identified_at, method, keyed, visitor_id)
      select business_id, contact_id, id, identified_at, method, keyed, visitor_id
      from json_to_recordset(p_identifications) as x (business_id uuid, contact_id uuid, id uuid, identified_at bigint,
        method text, keyed boolean, visitor_id text);
  end if;
  if p_new_enrolments is not null then
    insert into enrolments (business_id, id, campaign_id, contact_id, version, state, enrolled_at, received_at, ended_at, chain)
      select business_id, id, campaign_id, contact_id, version, state, enrolled_at, received_at, ended_at, chain
      from json_to_recordset(p_new_enrolments) as x (business_id uuid, id uuid, campaign_id uuid, contact_id uuid,
        version integer, state text, enrolled_at bigint, received_at bigint, ended_at bigint, chain uuid);
  end if;
  if p_keyed_enrolments is not null then
    insert into keyed_enrolments (business_id, id, campaign_id, contact_id, version, state, enrolled_at, received_at, ended_at, chain,
        key, key_hidden)
      select business_id, id, campaign_id, contact_id, version, state, enrolled_at, received_at, ended_at, chain, key, key_hidden
      from json_to_recordset(p_keyed_enrolments) as x (business_id uuid, id uuid, campaign_id uuid, contact_id uuid,
        version integer, state text, enrolled_at bigint, received_at bigint, ended_at bigint, chain uuid, key text,
        key_hidden boolean);
  end if;
  if p_goal_times is not null then
    perform record_goal_times(p_goal_times);
  end if;
  if p_applied_steps is not null then
    perform apply_steps(p_applied_steps);
  end if;
  if p_first_steps is not null then
    perform begin_steps(p_first_steps);
  end if;
  if p_followed_triggers is not null then
    perform follow_triggers(p_followed_triggers);
  end if;
  if p_awaited_events is not null then
    perform record_awaited_events(p_awaited_events);
  end if;
  if p_message_events is not null then
    perform note_message_events(p_message_events);
  end if;
  -- Before the choices of this micro-batch.
  if p_merge_log is not null then
    perform move_opt_outs(p_merge_log);
  end if;
  if p_subscriptions is not null then
    insert into subscriptions (business_id, contact_id, channel, subscribed, method, recorded_at)
      select business_id, contact_id, channel, subscribed, method, recorded_at
      from json_to_recordset(p_subscriptions) as x (business_id uuid, contact_id uuid, channel text, subscribed boolean,
        method text, recorded_at bigint)
    on conflict (business_id, contact_id, channel) do update set
      subscribed = excluded.subscribed, method = excluded.method, recorded_at = excluded.recorded_at;
    insert into consent_history (business_id, contact_id, channel, subscribed, method, recorded_at)
      select business_id, contact_id, channel, subscribed, method, recorded_at
      from json_to_recordset(p_subscriptions) as x (business_id uuid, contact_id uuid, channel text, subscribed boolean,
        method text, recorded_at bigint);
  end if;
  if p_past_choices is not null then
    perform keep_past_choices(p_past_choices);
  end if;
  if p_topics is not null then
    perform save_topics(p_topics);
  end if;
  -- After the merges and everything about visitors, because a click may have become known with the conversion itself.
  if p_deliveries is not null then
    perform queue_deliveries(p_deliveries);
  end if;
  if p_merge_log is not null then
    insert into merge_log (business_id, id, action, contact_id, losing_id, evidence, recorded_at)
      select business_id, id, action, contact_id, losing_id, evidence, recorded_at
      from json_to_recordset(p_merge_log) as x (business_id uuid, id uuid, action text, contact_id uuid, losing_id uuid,
        evidence jsonb, recorded_at bigint);
  end if;

  if p_dead_letters is not null then
    insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload, received_at, suspect)
      select id, business_id, p_partition, stream_id, kind, reason, payload, received_at, suspect
      from json_to_recordset(p_dead_letters) as x (id uuid, business_id uuid, stream_id text, kind text, reason text,
        payload text, received_at bigint, suspect uuid);
  end if;
  if p_replayed is not null then
    delete from dead_letters where id in (select value::uuid from json_array_elements_text(p_replayed));
  end if;

  if p_edits is not null then
    perform edit_contact(business_id, contact_id, at, array(select json_array_elements_text(cleared)), traits,
        array(select json_array_elements_text(add_tags)), array(select json_array_elements_text(remove_tags)))
      from json_to_recordset(p_edits) as x (business_id uuid, contact_id uuid, at bigint, cleared json, traits jsonb,
        add_tags json, remove_tags json);
  end if;
  if touched <> '{}' or segment_changes is not null then
    insert into outbox (events, unpacked_bytes, event_count, business_ids, contact_ids, changed, segment_changes, resend)
      values (p_events, case when p_events like 'zstd:%' then split_part(left(p_events, 20), ':', 2)::integer end,
        p_event_count, touched_businesses, touched,
        case when p_repeated then array_fill(true, array[cardinality(touched)]) else p_changed end, segment_changes,
        case when p_repeated then '{}'::uuid[] end)
      returning id into outbox_id;
  end if;
  -- One save may now do what several did before, so its revisions would be lower than those that ClickHouse has.
  if p_repeated then
    update contacts set revision = revision + 1000000 where ctid = any (array(
      select held.ctid from unnest(touched_businesses, touched) as t (business, contact)
      cross join lateral (
        select c.ctid from contacts c where c.business_id = t.business and c.id = t.contact limit 1
      ) held
    ));
  end if;
  -- After the row above, because changes that were due before the erasure come before it in the history.
  if p_erasures is not null then
    perform erase_contact(business_id, contact_id, at)
      from json_to_recordset(p_erasures) as x (business_id uuid, contact_id uuid, at bigint);
  end if;
  if p_done_refreshes is not null then
    perform remove_window_refreshes(p_done_refreshes);
  end if;
  if p_window_refreshes is not null then
    perform request_window_refreshes(p_window_refreshes, outbox_id);
  end if;

  if p_dry_run then
    raise exception 'dry run' using errcode = 'SL003';
  end if;
  return true;
end
$$;
