-- Writes counts and sums of the timeline. Every writer has checked the contact's version.
--   p_windows  [{ business_id, contact_id, key_hash, value, next_at }]; `value` is null when it is undefined now
create or replace function change_windows(p_windows json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  change record;
begin
  for change in
    select * from json_to_recordset(p_windows) as x (business_id uuid, contact_id uuid, key_hash uuid, value numeric, next_at bigint)
  loop
    if change.value is null then
      delete from segment_windows w
        where w.business_id = change.business_id and w.contact_id = change.contact_id and w.key_hash = change.key_hash;
    else
      insert into segment_windows (business_id, contact_id, key_hash, value, next_at)
        values (change.business_id, change.contact_id, change.key_hash, change.value, change.next_at)
      on conflict (business_id, contact_id, key_hash) do update set value = excluded.value, next_at = excluded.next_at;
    end if;
  end loop;
end
$$;

-- Requests that the segment worker reads the counts and sums of contacts, once the timeline has this row of the outbox.
--   p_window_refreshes  [{ business_id, contact_id, received_at, cause, is_new }]
create or replace function request_window_refreshes(p_window_refreshes json, p_outbox_id bigint) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  insert into segment_window_refreshes as c (business_id, contact_id, outbox_id, received_at, cause, is_new)
    select business_id, contact_id, p_outbox_id, received_at, cause, is_new
    from json_to_recordset(p_window_refreshes) as x (business_id uuid, contact_id uuid, received_at bigint, cause text, is_new boolean);
end
$$;

-- Removes the requests that the worker completes with this save. Otherwise, another worker would process the same
-- events again.
--   p_done_refreshes  [{ business_id, contact_id, outbox_id }]
create or replace function remove_window_refreshes(p_done_refreshes json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  answered record;
begin
  for answered in
    select * from json_to_recordset(p_done_refreshes) as x (business_id uuid, contact_id uuid, outbox_id bigint)
  loop
    delete from segment_window_refreshes c
      where c.business_id = answered.business_id and c.contact_id = answered.contact_id and c.outbox_id = answered.outbox_id;
  end loop;
end
$$;
