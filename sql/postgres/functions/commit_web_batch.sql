-- Moves the position of a web partition past a batch that ClickHouse has, with what Postgres is to know of it. False, and
-- nothing is written, when the position is not p_from at this epoch any more.
create or replace function commit_web_batch(
  p_partition text, p_epoch bigint, p_from text, p_to text,
  -- [{ id, business_id, stream_id, kind, reason, payload, received_at }]
  p_dead_letters json,
  -- Ids of the dead letters that this batch applies.
  p_replayed json,
  -- See see_visitors.
  p_sightings json
) returns boolean
language plpgsql
as $$
begin
  update positions set position = p_to, pending = null, pending_at = null
    where partition = p_partition and epoch = p_epoch and position = p_from;
  if not found then
    return false;
  end if;
  delete from dead_letters where id in (select value::uuid from json_array_elements_text(p_replayed));
  insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload, received_at)
    select id, business_id, p_partition, stream_id, kind, reason, payload, received_at
    from json_to_recordset(p_dead_letters) as x (
      id uuid, business_id uuid, stream_id text, kind text, reason text, payload text, received_at bigint);
  perform see_visitors(p_sightings);
  -- Somebody was erased since the batch was stamped: what would bring a trace back is undone, and decided again.
  if exists (
    select from json_to_recordset(p_sightings) as s (
      business_id uuid, visitor_id text, seen_at bigint, first_touch json, latest_touch json)
    join erased_visits v on v.business_id = s.business_id and v.visitor_id = s.visitor_id
    cross join lateral unnest(
      array[s.seen_at, (s.first_touch ->> 'at')::bigint, (s.latest_touch ->> 'at')::bigint]) as told (at)
    where told.at >= v.from_at and told.at < v.to_at
  ) then
    raise exception 'a visitor of the batch was erased meanwhile' using errcode = '40001';
  end if;
  return true;
end
$$;
