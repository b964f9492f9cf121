-- The key of the hashes below, and of the links in messages by which people unsubscribe. It is made once and stays: with
-- another one, suppressed addresses would be sent messages again, and the links in messages that were sent would be invalid. So it
-- is not SECRETS_KEY, which an operator can replace.
create table message_key (
  only_row boolean primary key default true check (only_row),
  key bytea not null check (length(key) = 32)
);

insert into message_key (key)
  values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

-- Addresses that no message goes to. A row names no contact and shows no address: it outlives an erasure.
create table suppressions (
  business_id uuid not null,
  id uuid not null,
  channel text not null check (channel in ('email', 'sms', 'whatsapp')),
  -- Of business, channel and address: src/messages/suppressions/hash-address.ts.
  address_hash bytea not null,
  -- An address has one row for each reason: START, or lifting the bounces of a bad day, must not lift a complaint.
  reason text not null check (reason in ('hard_bounce', 'complaint', 'stop', 'manual')),
  -- Epoch ms.
  suppressed_at bigint not null,
  primary key (business_id, id)
);

-- The only index for a hash: a plan that was made while the table was empty must not read a business from end to end.
create unique index suppressions_by_address on suppressions (address_hash, reason);
create index suppressions_by_reason on suppressions (business_id, reason, id);

-- The number of rows of each business. Its row is locked before some are added or deleted.
create table suppression_counts (
  business_id uuid primary key,
  many bigint not null check (many >= 0)
);
