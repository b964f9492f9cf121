-- Counts and sums of the timeline that segments read (windowed conditions).

-- The last answers, as the segment worker read them. Without a row an answer is undefined.
create table segment_windows (
  business_id uuid not null,
  contact_id uuid not null,
  -- Of the window's key (src/contacts/window-hashes.ts).
  key_hash uuid not null,
  value numeric not null,
  -- When time alone changes the value (epoch ms): the oldest event leaves the window. Null: never.
  next_at bigint,
  primary key (business_id, contact_id, key_hash)
) with (fillfactor = 90);
create index segment_windows_due on segment_windows (next_at) where next_at is not null;
alter table segment_windows set (autovacuum_vacuum_scale_factor = 0.01);

-- The contacts whose answers have to be read again, a row for each save that asks. The worker removes them.
create table segment_window_refreshes (
  business_id uuid not null,
  contact_id uuid not null,
  -- Once the timeline has this row of the outbox, it has what the save recorded, and all that was recorded for the contact before.
  outbox_id bigint not null,
  -- The earliest receipt of what the answers do not know (epoch ms).
  received_at bigint not null,
  -- Why the answers differ other than by events received since then: merge, live, bulk. Null: they do not.
  cause text check (cause in ('bulk', 'live', 'merge')),
  -- The save created the contact: no rule on these answers was evaluated.
  is_new boolean not null default false,
  primary key (business_id, contact_id, outbox_id)
);
create index segment_window_refreshes_in_order on segment_window_refreshes (outbox_id);
alter table segment_window_refreshes set (autovacuum_vacuum_scale_factor = 0.01);
