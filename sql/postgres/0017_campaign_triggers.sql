-- A campaign starts with an event, or with entering or leaving a segment.
alter table campaigns alter column trigger_event drop not null;
alter table campaigns add column trigger_segment uuid;
alter table campaigns add column trigger_on text check (trigger_on in ('enter', 'leave'));
alter table campaigns add constraint one_trigger
  check (num_nonnulls(trigger_event, trigger_segment) = 1 and (trigger_segment is null) = (trigger_on is null));
