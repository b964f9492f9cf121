-- The least that the same facts need, for the statement beside this file: what the product's own tables say of a contact,
-- without what other features keep there.
create table contacts (
  business_id uuid not null,
  id uuid not null,
  created_at bigint not null,
  revision bigint not null default 1,
  order_count bigint not null,
  tags text[] not null,
  traits jsonb not null,
  primary key (business_id, id)
) with (fillfactor = 80);

create table identities (
  business_id uuid not null,
  kind text collate "C" not null,
  value text collate "C" not null,
  contact_id uuid not null,
  primary key (business_id, kind, value)
);
create index identities_by_contact on identities (business_id, contact_id);

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

create table idempotency_keys (
  business_id uuid not null,
  key_hash uuid not null,
  contact_id uuid not null,
  occurred_at bigint not null,
  primary key (business_id, key_hash)
);

create table positions (partition text primary key, position bigint not null) with (fillfactor = 50);
insert into positions values ('live-0', 0);

create table outbox (
  id bigint generated always as identity primary key,
  events text not null,
  contact_ids uuid[] not null
);
