-- The name of the event that was recorded under the key. The answer to a repeat under another name says it. Null for keys from
-- before this column, and for those that `admin verify` has put back.
alter table idempotency_keys add column event text collate "C";
