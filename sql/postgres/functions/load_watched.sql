-- Loads what the segments of businesses read from contacts, as columns (src/contacts/load/watched-facts.ts names them):
-- setting up a statement costs more than its probes, and naming the fields of an object costs more than the fields.
-- Each contact occurs once.
--   p_watched  [{ business_id, events, fields, tags, revenue, windows, profile }]; null `events` means all statistics
--              of a contact, which costs less than probing for many
--   p_alone    nothing else is read of these contacts
-- Returns [contacts, statistics, revenue, windows, undecided]. The rows of the other lists refer to a contact by its
-- place in the arguments. Null when there are none. All data is as of the same moment, because the function is stable.
create or replace function load_watched(p_businesses uuid[], p_contacts uuid[], p_watched json, p_alone boolean) returns json
language plpgsql stable
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  contacts json;
  statistics json;
  revenues json;
  windows json;
  undecided json;
  reads record;
begin
  select bool_or(w.events is null or w.events <> '{}') as events, bool_or(w.fields <> '{}') as fields, bool_or(w.tags <> '{}') as tags,
      bool_or(w.revenue) as revenue, bool_or(w.windows) as windows, bool_or(w.profile) as profile
    into reads
    from json_to_recordset(p_watched) as w (events text[], fields text[], tags text[], revenue boolean, windows boolean, profile boolean);
  with watched as materialized (
    select * from json_to_recordset(p_watched) as w (business_id uuid, fields text[], tags text[])
  )
  select json_build_array(
      array_agg(f.place), array_agg(c.id), array_agg(c.stage), array_agg(c.order_count), array_agg(k.due_at), array_agg(k.settled_at),
      array_agg(case when k.bulk_facts <> '{}' then to_json(k.bulk_facts) end),
      array_agg(to_json(array(
        select json_build_array(key, c.traits -> key) from unnest(w.fields) as key where c.traits ? key
      ))) filter (where reads.fields),
      array_agg(to_json(array(select tag from unnest(c.tags) as tag where tag = any (w.tags)))) filter (where reads.tags),
      array_agg(c.version) filter (where p_alone), array_agg(c.created_at) filter (where p_alone),
      array_agg(c.merged_into) filter (where p_alone),
      -- Even if no rule reads windows any more, because requests to read them may still exist.
      array_agg(to_json(array(
        select l.id from contacts l where l.business_id = f.business_id and l.merged_into = f.id
      ))) filter (where p_alone),
      array_agg(json_build_array(c.first_name, c.last_name, c.country, c.city, c.language, c.timezone)) filter (where reads.profile),
      array_agg(k.changed_at) filter (where reads.windows)
    ) into contacts
    from unnest(p_businesses, p_contacts) with ordinality as f (business_id, id, place)
    cross join lateral (
      select * from contacts c where c.business_id = f.business_id and c.id = f.id limit 1
    ) c
    join watched w on w.business_id = f.business_id
    left join lateral (
      select k.due_at, k.settled_at, k.bulk_facts, k.changed_at from segment_clock k
      where k.business_id = f.business_id and k.contact_id = f.id limit 1
    ) k on true;
  if reads.events then
    with watched as materialized (
      select * from json_to_recordset(p_watched) as w (business_id uuid, events text[])
    )
    select json_build_array(array_agg(f.place), array_agg(s.event), array_agg(s.first_at), array_agg(s.last_at), array_agg(s.count))
      into statistics
      from unnest(p_businesses, p_contacts) with ordinality as f (business_id, id, place)
      join watched w on w.business_id = f.business_id
      cross join lateral (
        (
          select s.event, s.first_at, s.last_at, s.count from event_statistics s
          where w.events is null and s.business_id = f.business_id and s.contact_id = f.id
          offset 0
        )
        union all
        (
          select s.event, s.first_at, s.last_at, s.count
          from unnest(w.events) as named (event)
          cross join lateral (
            select s.event, s.first_at, s.last_at, s.count from event_statistics s
            where s.business_id = f.business_id and s.contact_id = f.id and s.event = named.event collate "C"
            limit 1
          ) s
        )
      ) s;
  end if;
  if reads.revenue then
    with watched as materialized (
      select * from json_to_recordset(p_watched) as w (business_id uuid, revenue boolean)
    )
    select json_build_array(array_agg(f.place), array_agg(r.currency), array_agg(r.amount::text)) into revenues
      from unnest(p_businesses, p_contacts) with ordinality as f (business_id, id, place)
      join watched w on w.business_id = f.business_id and w.revenue
      cross join lateral (
        select r.currency, r.amount from revenue r where r.business_id = f.business_id and r.contact_id = f.id offset 0
      ) r;
  end if;
  if reads.windows then
    with watched as materialized (
      select * from json_to_recordset(p_watched) as w (business_id uuid, windows boolean)
    )
    select json_build_array(array_agg(f.place), array_agg(s.key_hash), array_agg(trim_scale(s.value)::text), array_agg(s.next_at))
      into windows
      from unnest(p_businesses, p_contacts) with ordinality as f (business_id, id, place)
      join watched w on w.business_id = f.business_id and w.windows
      cross join lateral (
        select s.key_hash, s.value, s.next_at from segment_windows s where s.business_id = f.business_id and s.contact_id = f.id offset 0
      ) s;
    select json_agg(f.place) into undecided
      from unnest(p_businesses, p_contacts) with ordinality as f (business_id, id, place)
      where exists (
        select from segment_window_refreshes c where c.business_id = f.business_id and c.contact_id = f.id and c.is_new offset 0
      );
  end if;
  return json_build_array(contacts, statistics, revenues, windows, undecided);
end
$$;
