-- Saves what a micro-batch decided about topics. The caller has locked the contacts, and has merged them.
--   p_topics  { merges: [{ business_id, losing_id, surviving_id }], moves: [{ business_id, contact_id, losing_id, topic,
--             channel }], choices: [CHOICE], past: [CHOICE] }
--             CHOICE: { business_id, contact_id, topic, channel, subscribed, method, recorded_at }
create or replace function save_topics(p_topics json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  merge record;
  moved record;
  past record;
begin
  -- In the order in which they were decided: a survivor may be merged later. An opt-out wins; of two equal choices, the survivor's stays.
  for merge in
    select business_id, losing_id, surviving_id
    from json_to_recordset(p_topics -> 'merges') as x (business_id uuid, losing_id uuid, surviving_id uuid)
  loop
    with lost as (
      delete from topic_choices where business_id = merge.business_id and contact_id = merge.losing_id returning *
    )
    insert into topic_choices as kept (business_id, contact_id, topic, channel, subscribed, method, recorded_at)
      select business_id, merge.surviving_id, topic, channel, subscribed, method, recorded_at from lost
    on conflict (business_id, contact_id, topic, channel) do update set
      subscribed = false, method = excluded.method, recorded_at = excluded.recorded_at
      where kept.subscribed and not excluded.subscribed;
    update topic_history set contact_id = merge.surviving_id
      where business_id = merge.business_id and contact_id = merge.losing_id;
  end loop;

  -- Opt-outs of addresses that moved to another contact, as in move_opt_outs.
  for moved in
    select m.business_id, taker.id as taker, giver.id as giver, m.topic, m.channel
    from json_to_recordset(p_topics -> 'moves') as m (business_id uuid, contact_id uuid, losing_id uuid, topic text, channel text)
    cross join lateral (
      select coalesce(c.merged_into, c.id) as id from contacts c
      where c.business_id = m.business_id and c.id = m.contact_id
      limit 1
    ) taker
    cross join lateral (
      select coalesce(c.merged_into, c.id) as id from contacts c
      where c.business_id = m.business_id and c.id = m.losing_id
      limit 1
    ) giver
    where giver.id <> taker.id
  loop
    with copied as (
      insert into topic_choices as kept (business_id, contact_id, topic, channel, subscribed, method, recorded_at)
        select moved.business_id, moved.taker, o.topic, o.channel, false, o.method, o.recorded_at
        from topic_choices o
        where o.business_id = moved.business_id and o.contact_id = moved.giver and o.topic = moved.topic collate "C"
          and o.channel = moved.channel and not o.subscribed
      on conflict (business_id, contact_id, topic, channel) do update set
        subscribed = false, method = excluded.method, recorded_at = excluded.recorded_at
        where kept.subscribed
      returning business_id, contact_id, topic, channel, subscribed, method, recorded_at
    )
    insert into topic_history (business_id, contact_id, topic, channel, subscribed, method, recorded_at)
      select business_id, contact_id, topic, channel, subscribed, method, recorded_at from copied;
  end loop;

  insert into topic_choices (business_id, contact_id, topic, channel, subscribed, method, recorded_at)
    select business_id, contact_id, topic, channel, subscribed, method, recorded_at
    from json_to_recordset(p_topics -> 'choices') as x (business_id uuid, contact_id uuid, topic text, channel text,
      subscribed boolean, method text, recorded_at bigint)
  on conflict (business_id, contact_id, topic, channel) do update set
    subscribed = excluded.subscribed, method = excluded.method, recorded_at = excluded.recorded_at;
  insert into topic_history (business_id, contact_id, topic, channel, subscribed, method, recorded_at)
    select business_id, contact_id, topic, channel, subscribed, method, recorded_at
    from json_to_recordset(p_topics -> 'choices') as x (business_id uuid, contact_id uuid, topic text, channel text,
      subscribed boolean, method text, recorded_at bigint);

  -- Past choices: each is in the history once, whatever the order of arrival, as in keep_past_choices.
  for past in
    select business_id, contact_id, topic, channel, subscribed, method, recorded_at
    from json_to_recordset(p_topics -> 'past') as x (business_id uuid, contact_id uuid, topic text, channel text,
      subscribed boolean, method text, recorded_at bigint)
    order by business_id, contact_id, recorded_at
  loop
    insert into topic_history (business_id, contact_id, topic, channel, subscribed, method, recorded_at)
      select past.business_id, past.contact_id, past.topic, past.channel, past.subscribed, past.method, past.recorded_at
      where not exists (
        select from topic_history h
        where h.business_id = past.business_id and h.contact_id = past.contact_id and h.topic = past.topic collate "C"
          and h.channel = past.channel and h.recorded_at = past.recorded_at and h.subscribed = past.subscribed
          and h.method = past.method
      );
    update topic_choices s set method = past.method
      where s.business_id = past.business_id and s.contact_id = past.contact_id and s.topic = past.topic collate "C"
        and s.channel = past.channel and s.recorded_at = past.recorded_at and s.subscribed = past.subscribed
        and s.method collate "C" < past.method collate "C";
  end loop;
end
$$;
