-- Moves the position of a web partition past a batch that ClickHouse has, and records what Postgres needs to know about
-- the batch. Returns false, and writes nothing, when the position is no longer p_from at this epoch.
create or replace function commit_web_batch(
  p_partition text, p_epoch bigint, p_from text, p_to text,
  -- [{ id, business_id, stream_id, kind, reason, payload, received_at }]
  p_dead_letters json,
  -- Ids of the dead letters that this batch replays.
  p_replayed json,
  -- As in see_visitors.
  p_sightings json
) returns boolean
language plpgsql
as $$
begin
  update positions set position = p_to, pending = null, pending_at = null, moved_at = now()
    where partition = p_partition and epoch = p_epoch and position = p_from;
  if not found then
    return false;
  end if;
  delete from dead_letters where id in (select value::uuid from json_array_elements_text(p_replayed));
  insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload, received_at)
    select id, business_id, p_partition, stream_id, kind, reason, payload, received_at
    from json_to_recordset(p_dead_letters) as x (
      id uuid, business_id uuid, stream_id text, kind text, reason text, payload text, received_at bigint);
  -- Raises 40001 when a person was erased since the batch was stamped: the batch is then decided again without that
  -- person.
  perform see_visitors(p_sightings);
  return true;
end
$$;
