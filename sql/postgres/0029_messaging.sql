-- What a business has set for all of its campaigns (src/rules/campaigns/messaging.ts). Without a row: the defaults.
create table messaging (
  business_id uuid primary key,
  -- { from, to }; null: none.
  quiet_hours jsonb,
  caps jsonb not null,
  updated_at timestamptz not null default clock_timestamp()
);
