-- Of a row whose events are packed (timeline/outbox-text.ts): how long they are unpacked. Null for lines as they are.
alter table outbox add column unpacked_bytes integer;
create index outbox_packed on outbox (id) where unpacked_bytes is not null;
