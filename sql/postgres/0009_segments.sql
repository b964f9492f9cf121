-- Segments: their definitions, the rules that saves evaluate, and who is a member.

create table segments (
  business_id uuid not null,
  id uuid not null,
  name text not null,
  description text,
  -- As its author wrote it last. Saves evaluate `segment_rules`.
  rule jsonb not null,
  -- Goes up with each change of the rule.
  version integer not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (business_id, id)
);

create sequence segment_rule_numbers;

-- Every save evaluates the rules that are current or being built. A rule that is being built belongs to a segment that is new or was
-- edited: its members are computed beside those of the current rule, and take their place at once when they are complete.
create table segment_rules (
  business_id uuid not null,
  -- Names the rule in the rows of its members. An edited segment gets a new number.
  no bigint not null,
  segment_id uuid not null,
  version integer not null,
  -- With the rules of inner segments in place (src/rules/segments/resolve-rule.ts).
  rule jsonb not null,
  state text not null check (state in ('current', 'building', 'retired')),
  -- Of a rule that took the place of another, or of none, and whose differences are not in the history yet: when (epoch ms), and the
  -- number of the former rule. Null: the history is complete.
  switched_at bigint,
  replaces bigint,
  -- When it was put in force in the place of another, or of none (epoch ms): changes of its members are not dated earlier.
  in_force_at bigint not null default 0,
  primary key (business_id, no)
);
create unique index one_rule_of_a_state on segment_rules (business_id, segment_id, state) where state <> 'retired';
create index segment_rules_switched on segment_rules (business_id, no) where switched_at is not null;
create index segment_rules_retired on segment_rules (business_id, no) where state = 'retired';

-- Written by saves and never read by their decisions: what a contact is a member of follows from its facts and the time.
create table segment_members (
  business_id uuid not null,
  contact_id uuid not null,
  segment_no bigint not null,
  -- When it entered, in epoch ms, and why.
  since bigint not null,
  cause text not null check (cause in ('live', 'time', 'bulk', 'rule', 'merge')),
  -- False: it entered while the rule was being built, and the history does not have it yet.
  logged boolean not null default true,
  primary key (business_id, contact_id, segment_no)
) with (fillfactor = 90);
-- The members of a rule. The condition is always true, so only what lists them, and says so, can use the index. Otherwise a plan that
-- was made while the table was empty chose it for the row of one contact, and read all members of the rule from then on.
create index segment_members_by_entry on segment_members (business_id, segment_no, since, contact_id) where cause <> '';
create index segment_members_unlogged on segment_members (business_id, segment_no) where not logged;

-- The number of members of a rule is the sum of its rows. A save adds a row for what it changed, so that saves do not wait for each
-- other. The segment worker sums the rows up from time to time.
create table segment_sizes (
  business_id uuid not null,
  segment_no bigint not null,
  members bigint not null
);
create index segment_sizes_by_rule on segment_sizes (business_id, segment_no);

-- When time alone may change what a contact is a member of. A contact that time cannot change has no row, or no `due_at`.
create table segment_clock (
  business_id uuid not null,
  contact_id uuid not null,
  -- Epoch ms. Nothing changes before; it may also be that nothing changes then.
  due_at bigint,
  -- From this instant (epoch ms) up to `due_at`, time changes nothing of what is written. Later decisions take no earlier "now".
  settled_at bigint not null default 0,
  -- The facts that a batch set last: a change by time that they alone fix is silent.
  bulk_facts text[] not null default '{}',
  -- When the contact last entered or left each rule that reads counts or sums of the timeline: [[number of the rule, epoch ms]]. Null:
  -- it never did.
  changed_at json,
  primary key (business_id, contact_id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01);
create index segment_clock_due on segment_clock (due_at) where due_at is not null;

-- Counts and sums of the timeline that segments read (windowed conditions): the last answers, as the segment worker read them.
-- Without a row an answer is undefined.
create table segment_windows (
  business_id uuid not null,
  contact_id uuid not null,
  -- Of the window's key (src/contacts/window-hashes.ts).
  key_hash uuid not null,
  value numeric not null,
  -- When time alone changes the value (epoch ms): the oldest event leaves the window. Null: never.
  next_at bigint,
  primary key (business_id, contact_id, key_hash)
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.01);
create index segment_windows_due on segment_windows (next_at) where next_at is not null;

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
) with (autovacuum_vacuum_scale_factor = 0.01);
create index segment_window_refreshes_in_order on segment_window_refreshes (outbox_id);

-- One row for each business with rules that are being built: how far the pass over its contacts has come.
create table segment_builds (
  business_id uuid primary key,
  -- Goes up with each edit: a pass that began before it starts again.
  epoch bigint not null default 1,
  -- The last contact that was looked at; null at the beginning.
  cursor uuid,
  done bigint not null default 0,
  total bigint not null default 0,
  requested_at timestamptz not null default clock_timestamp()
);

-- One row: the process that runs the segment worker.
create table segment_lease (
  only_row boolean primary key default true check (only_row),
  owner uuid,
  lease_until timestamptz not null default '-infinity'
) with (fillfactor = 50);
insert into segment_lease default values;
