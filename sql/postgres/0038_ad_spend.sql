-- What a business paid for advertising. It names no contact.
create table ad_spend (
  business_id uuid not null,
  -- Of the business's time zone.
  day date not null,
  channel text not null,
  -- As in the touches that the advertising brings; an empty text when it was not said.
  source text not null,
  campaign text not null,
  currency text not null,
  -- 0 or more, with 4 decimals at most (src/analytics/spend-row.ts).
  amount numeric not null,
  primary key (business_id, day, channel, source, campaign, currency)
);

-- The number of rows of each business. Its row is locked before some are added or deleted.
create table ad_spend_counts (
  business_id uuid primary key,
  many bigint not null
);
