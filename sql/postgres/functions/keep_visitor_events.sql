-- Stores the events of unidentified visitors: for each visitor the newest 1,000 events, and at most 512 KiB of them.
--   p_events  [{ business_id, visitor_id, event_id, event, occurred_at, received_at, line }]
create or replace function keep_visitor_events(p_events json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  visitor record;
begin
  insert into visitor_events (business_id, visitor_id, event_id, event, occurred_at, received_at, line)
    select business_id, visitor_id, event_id, event, occurred_at, received_at, line
    from json_to_recordset(p_events) as x (business_id uuid, visitor_id text, event_id uuid, event text,
      occurred_at bigint, received_at bigint, line text);
  for visitor in
    select distinct business_id, visitor_id from json_to_recordset(p_events) as x (business_id uuid, visitor_id text)
  loop
    delete from visitor_events e
      where e.business_id = visitor.business_id and e.visitor_id = visitor.visitor_id collate "C"
        and e.event_id <= (
          select event_id
          from (
            select event_id, row_number() over newest as place, sum(octet_length(line)) over newest as bytes
            from visitor_events k
            where k.business_id = visitor.business_id and k.visitor_id = visitor.visitor_id collate "C"
            window newest as (order by event_id desc)
          ) kept
          where place > 1000 or bytes > 524288
          order by event_id desc limit 1
        );
  end loop;
end
$$;
