-- When the position last moved: a partition that has work and does not move is stalled. And the businesses that were inactive
-- when the pending batch of a web partition was stamped: whoever repeats that batch leaves out the same.
alter table positions
  add column moved_at timestamptz not null default now(),
  add column pending_inactive uuid[] not null default '{}';

-- Set on an item that failed in a search for poison: a hash of the contact that it names (src/stream/compose-dead-letter.ts).
-- Items of the same business and contact are tried apart first for a while, also after a restart (workers/suspects.ts).
alter table dead_letters add column suspect uuid;
create index dead_letters_of_suspects on dead_letters (partition, created_at) where suspect is not null;
