-- Who someone is. Instants that callers report are bigint epoch milliseconds: exact from year 1 on, and cheap.
-- fillfactor 80 keeps updates of hot rows HOT.

create table contacts (
  business_id uuid not null,
  id uuid not null,
  created_at bigint not null,
  -- Raised by a change that decisions depend on (identities, merges, enrolments, goal statistics); each save asserts it.
  version bigint not null default 1,
  -- Raised by every change; orders the snapshots sent to ClickHouse.
  revision bigint not null default 1,
  -- A call with a secret key has used this contact.
  keyed boolean not null,
  -- Set on the losing side of a merge; always names the last survivor.
  merged_into uuid,
  first_name text,
  last_name text,
  country text,
  city text,
  language text,
  timezone text,
  -- 0 Awareness, 1 Consideration, 2 Decision, 3 Retention, 4 Advocacy.
  stage smallint not null default 0,
  order_count bigint not null default 0,
  tags text[] not null default '{}',
  -- { key: [epoch ms, JSON text of the value or null when cleared] }
  traits jsonb not null default '{}',
  primary key (business_id, id)
) with (fillfactor = 80);
create index contacts_by_survivor on contacts (business_id, merged_into) where merged_into is not null;

-- Every value by which a person can be found, and whose it is.
create table identities (
  business_id uuid not null,
  kind text collate "C" not null check (kind in ('platformCustomerId', 'email', 'phone')),
  value text collate "C" not null,
  contact_id uuid not null,
  -- A call with a secret key has sent it.
  proven boolean not null,
  -- A phone that was read as E.164: shown with a plus sign.
  phone_read boolean not null default false,
  -- The smallest of a contact and kind is the primary one.
  position bigint generated always as identity,
  primary key (business_id, kind, value)
) with (fillfactor = 80);
-- Partial on what is always true, so that only a query that names a contact can use it: a plan made while the table is
-- empty would else take it for any look-up, the business being its first column, and keep it as the table grows.
create index identities_by_contact on identities (business_id, contact_id) where contact_id is not null;
-- Two customer ids are two people.
create unique index one_customer_id_per_contact on identities (business_id, contact_id) where kind = 'platformCustomerId';

create table custom_fields (
  business_id uuid not null,
  key text collate "C" not null,
  type text not null check (type in ('Number', 'Boolean', 'Date', 'Text')),
  created_at bigint not null,
  primary key (business_id, key)
);

create table event_statistics (
  business_id uuid not null,
  contact_id uuid not null,
  event text collate "C" not null,
  first_at bigint not null,
  last_at bigint not null,
  count bigint not null,
  primary key (business_id, contact_id, event)
) with (fillfactor = 80);

create table revenue (
  business_id uuid not null,
  contact_id uuid not null,
  currency text collate "C" not null,
  amount numeric not null,
  primary key (business_id, contact_id, currency)
) with (fillfactor = 80);

-- Keys are unique per business for ever, and outlive an erased contact.
create table idempotency_keys (
  business_id uuid not null,
  -- The first 16 bytes of the key's sha256.
  key_hash uuid not null,
  contact_id uuid not null,
  occurred_at bigint not null,
  primary key (business_id, key_hash)
);

-- One row per channel with a recorded choice; no row is no subscription and no objection.
create table subscriptions (
  business_id uuid not null,
  contact_id uuid not null,
  channel text not null check (channel in ('email', 'sms', 'whatsapp', 'push')),
  subscribed boolean not null,
  method text not null,
  recorded_at bigint not null,
  primary key (business_id, contact_id, channel)
);

-- The contact that a browser belongs to: the first that identified it.
create table visitors (
  business_id uuid not null,
  visitor_id text collate "C" not null,
  contact_id uuid not null,
  linked_at bigint not null,
  primary key (business_id, visitor_id)
);
create index visitors_by_contact on visitors (business_id, contact_id) where contact_id is not null;
-- Every contact that identified a browser lists it.
create table contact_visitors (
  business_id uuid not null,
  contact_id uuid not null,
  visitor_id text collate "C" not null,
  linked_at bigint not null,
  primary key (business_id, visitor_id, contact_id)
);
create index contact_visitors_by_contact on contact_visitors (business_id, contact_id) where contact_id is not null;

create table identifications (
  business_id uuid not null,
  contact_id uuid not null,
  id uuid not null,
  identified_at bigint not null,
  method text,
  keyed boolean not null,
  visitor_id text,
  primary key (business_id, contact_id, id)
);

-- What was joined, moved or released, and why.
create table merge_log (
  business_id uuid not null,
  id uuid not null,
  -- 'merged': contact `losing_id` into `contact_id`; 'moved' / 'released': an identity left `losing_id` for `contact_id`.
  action text not null check (action in ('merged', 'moved', 'released')),
  contact_id uuid not null,
  losing_id uuid not null,
  -- { kind, value } of the identities that caused it.
  evidence jsonb not null,
  recorded_at bigint not null,
  primary key (business_id, id)
);
create index merge_log_by_contact on merge_log (business_id, contact_id);
create index merge_log_by_loser on merge_log (business_id, losing_id);

-- Ids that were erased, so that nothing brings the person back. `scrubbed_at` and `deleted_at` mark how far the erasure
-- has come in the outbox and in ClickHouse.
create table erasures (
  business_id uuid not null,
  contact_id uuid not null,
  -- The id it had been erased as (its survivor).
  erased_as uuid not null,
  erased_at timestamptz not null default now(),
  scrubbed_at timestamptz,
  deleted_at timestamptz,
  primary key (business_id, contact_id)
);
create index erasures_to_finish on erasures (business_id) where deleted_at is null;
