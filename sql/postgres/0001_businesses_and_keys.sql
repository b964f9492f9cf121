-- Who may call, and what one business has chosen. Every later table is led by business_id.

create table businesses (
  id uuid primary key,
  name text not null,
  active boolean not null default true,
  -- Requests a minute on the keyed endpoints.
  rate_limit integer not null default 120 check (rate_limit > 0),
  -- Default currency of an amount sent without one, upper-cased.
  currency text not null default 'USD',
  -- ISO 3166 alpha-2: how a national phone number is read.
  country text,
  timezone text not null default 'UTC',
  -- Allowed browser origins; empty allows any.
  origins text[] not null default '{}',
  -- Raised by every change that a decision depends on (custom fields, campaigns); each save asserts the one it read.
  config_version bigint not null default 1,
  -- Custom fields so far (at most 500).
  field_count integer not null default 0 check (field_count <= 500),
  created_at timestamptz not null default now(),
  removed_at timestamptz
);

create table api_keys (
  id uuid primary key,
  business_id uuid not null references businesses (id),
  kind text not null check (kind in ('secret', 'publishable')),
  -- sha256 of the whole key; the key itself is never stored.
  key_hash bytea not null unique,
  -- The last four characters, to tell keys apart in a list.
  hint text not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create index api_keys_by_business on api_keys (business_id);
