-- The name of the event that was recorded under the key. The answer to a repeat under another name says it. Null for keys from
-- before this column, and for those that `admin verify` has put back.
alter table idempotency_keys add column event text collate "C";

-- Of a contact's emails, and of its phones: the one that a call has made primary. Without one, the proven one with the lowest position
-- is primary. `named` orders the calls that made an address primary: when addresses are united or removed, the latest of them counts.
alter table identities add column is_primary boolean not null default false, add column named bigint;
