-- Which of a row's contacts have a new state and need a snapshot, parallel to `contact_ids`; the others only got events.
alter table outbox add column changed boolean[];
update outbox set changed = array_fill(true, array[cardinality(contact_ids)]);
alter table outbox alter column changed set not null;
-- Read once or twice: packing the events cost more than the whole row.
alter table outbox alter column events set storage external;
