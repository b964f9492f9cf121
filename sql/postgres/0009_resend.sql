-- Null for a row that goes to ClickHouse for the first time. Else it is to be set right there (admin verify --repair): of
-- its events those that are missing are sent again, its contacts' snapshots and statistics are made to agree. Empty until
-- a group is stamped; from then on the ids of the events that this group sends.
alter table outbox add column resend uuid[];
create index outbox_to_resend on outbox (id) where shipped_at is null and group_id is null and resend is not null;
