-- When the event that a step waits for happened first.
alter table due_steps rename column heard_at to awaited_at;
-- Now record_awaited_events.
drop function if exists hear_events(json);
