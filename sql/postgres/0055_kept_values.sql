-- Recording what became of a message changes no column of an index, so that Postgres rewrites its row alone, where it is (HOT).

-- It may have what it is rendered from: src/campaigns/engine/forget-values.ts. Of the messages that there are, this is found out there.
alter table messages add column kept boolean not null default true;
drop index messages_kept;
create index messages_kept on messages (claimed_at) where kept;
-- Room for the row of each message once it has its values.
alter table messages set (fillfactor = 40);
