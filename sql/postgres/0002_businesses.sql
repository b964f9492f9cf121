-- Businesses, their settings and their API keys. Every table about a business has `business_id` as the first column of its key.

create table businesses (
  id uuid primary key,
  name text not null,
  active boolean not null default true,
  -- Requests per minute on the endpoints that need a key.
  rate_limit integer not null default 120 check (rate_limit > 0),
  -- Currency of an amount that was sent without one, in upper case.
  currency text not null default 'USD',
  -- ISO 3166 alpha-2 code. Phone numbers in national format are read as numbers of this country.
  country text,
  timezone text not null default 'UTC',
  -- Browser origins that may call. Empty: any origin may.
  origins text[] not null default '{}',
  -- What happens to events that bots and headless browsers send from the business's pages.
  bots text not null default 'ignore' check (bots in ('ignore', 'allow')),
  -- How far the business trusts what a page says about a person (decisions, "Callers without a secret key").
  -- open: it counts at once. confirmed: once a call with a secret key has used a contact, a page changes only what such a call
  -- has confirmed.
  page_identify text not null default 'open' check (page_identify in ('open', 'confirmed')),
  -- Goes up with every change that decisions depend on (custom fields, campaigns, destinations). Each save checks that it is
  -- still the version that the decision read.
  config_version bigint not null default 1,
  -- Number of custom fields, at most 500.
  field_count integer not null default 0 check (field_count <= 500),
  -- Number of campaigns, at most 1,000 (src/campaigns/create-campaign.ts). A counter, so that two campaigns that are created at
  -- the same time cannot exceed the limit.
  campaign_count integer not null default 0,
  created_at timestamptz not null default now(),
  removed_at timestamptz,
  -- The template of the mail that asks a person to confirm an opt-in. Null: no opt-in can wait for one.
  confirmation_template uuid,
  -- The business that `admin demo` has chosen, and chooses again.
  demo boolean not null default false
);
create unique index businesses_demo on businesses (demo) where demo;

create table api_keys (
  id uuid primary key,
  business_id uuid not null references businesses (id),
  kind text not null check (kind in ('secret', 'publishable')),
  -- SHA-256 of the whole key. The key itself is never stored.
  key_hash bytea not null unique,
  -- The last four characters of the key, by which people know it in a list.
  hint text not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  -- Within some minutes: it is written once a minute for all keys that were used (src/businesses/key-use.ts).
  last_used_at timestamptz
);
create index api_keys_by_business on api_keys (business_id);
