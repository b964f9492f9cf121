-- Conversions that are sent to ad platforms and webhooks.

-- Where a business wants its conversions sent.
create table destinations (
  business_id uuid not null references businesses (id),
  id uuid not null,
  kind text not null check (kind in ('meta', 'google', 'webhook')),
  name text not null,
  -- Which conversions it wants: purchase, lead, booking.
  types text[] not null check (types <> '{}'),
  -- Only conversions of contacts that came by a click of one of these kinds. Null: of every contact.
  click_ids text[],
  settings jsonb not null,
  -- Encrypted with SECRETS_KEY.
  secret text not null,
  active boolean not null default true,
  -- The destination has asked for a pause until then.
  held_until timestamptz not null default '-infinity',
  created_at timestamptz not null default now(),
  primary key (business_id, id)
);

-- One conversion for one destination. The contact's identities are looked up when it is sent.
create table deliveries (
  business_id uuid not null,
  id uuid not null,
  destination_id uuid not null,
  event_id uuid not null,
  contact_id uuid not null,
  event text not null,
  type text not null,
  occurred_at bigint not null,
  -- In steps of 0.000001. Null when no value was sent, or none that counts.
  amount numeric,
  currency text,
  idempotency_key text,
  -- The clicks that had brought the person, as known when the delivery was queued; what is reported about a browser later does not
  -- change them. { kind: { id, at (ms) } }: of each kind that the destination takes, the newest before the conversion.
  clicks jsonb not null,
  state text not null default 'queued' check (state in ('queued', 'sent', 'dead')),
  attempts integer not null default 0,
  -- While it is claimed: when the claim expires.
  next_attempt_at timestamptz not null default now(),
  -- The sender that is sending it now.
  claim uuid,
  last_error text,
  created_at timestamptz not null default now(),
  settled_at timestamptz,
  -- The newest attempts, oldest first, ten at most: [{ at, outcome: sent | retry | unsent | dead, reason }].
  attempt_log jsonb not null default '[]',
  primary key (business_id, id),
  unique (business_id, destination_id, event_id),
  foreign key (business_id, destination_id) references destinations (business_id, id) on delete cascade
) with (fillfactor = 80);
create index deliveries_due on deliveries (business_id, destination_id, next_attempt_at) where state = 'queued';
create index deliveries_under_way on deliveries (business_id, destination_id, next_attempt_at) where claim is not null;
create index deliveries_by_contact on deliveries (business_id, contact_id) where contact_id is not null;
create index deliveries_dead on deliveries (business_id, destination_id) where state = 'dead';
create index deliveries_settled on deliveries (settled_at) where state <> 'queued';
