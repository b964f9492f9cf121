-- What the people of a business have saved for their reports, and what it paid for advertising.

-- Filters of the list of contacts that people of a business have saved under a name. All of them see each.
create table saved_views (
  business_id uuid not null references businesses (id),
  id uuid not null,
  name text not null,
  -- { query, tag, stage, field, value }, each a text; those that do not filter are absent.
  filters jsonb not null,
  created_at timestamptz not null default now(),
  primary key (business_id, id)
);
create unique index saved_views_by_name on saved_views (business_id, name);

-- Statements of the SQL page that people of a business have saved under a name. All who may run SQL see each.
create table saved_queries (
  business_id uuid not null references businesses (id),
  id uuid not null,
  name text not null,
  statement text not null,
  -- The values of its parameters, each a text, by name.
  parameters jsonb not null,
  created_at timestamptz not null default now(),
  primary key (business_id, id)
);
create unique index saved_queries_by_name on saved_queries (business_id, name);

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

-- Boards: pages of charts that people of a business have saved. Everyone in the business sees each.
create table boards (
  business_id uuid not null references businesses (id),
  id uuid not null,
  name text not null,
  -- Its place in the list, from 0 on.
  place integer not null,
  -- A list of charts (src/analytics/boards/board.ts).
  charts jsonb not null default '[]',
  -- Goes up with each change of the name or the charts.
  version integer not null default 1,
  -- Whether its figures are sent by mail every Monday.
  is_weekly boolean not null default false,
  -- Until then one front door composes the mails of the week, and no other one begins.
  composing_until timestamptz,
  created_at timestamptz not null default now(),
  primary key (business_id, id)
);
create unique index boards_by_name on boards (business_id, name);
create index boards_by_mail on boards (business_id) where is_weekly;

-- Who gets the mail. A person who leaves the business is no longer among them.
create table board_recipients (
  business_id uuid not null,
  board_id uuid not null,
  user_id uuid not null,
  primary key (business_id, board_id, user_id),
  foreign key (business_id, board_id) references boards (business_id, id) on delete cascade,
  foreign key (business_id, user_id) references memberships (business_id, user_id) on delete cascade
);
create index board_recipients_by_user on board_recipients (business_id, user_id);

-- The mails of the last weeks. A row is written before its mail is sent, so that no mail is sent twice.
create table board_mails (
  business_id uuid not null,
  board_id uuid not null,
  -- The Monday, in the zone of the business.
  week date not null,
  user_id uuid not null,
  -- `failed`: the mail server has not taken it. `unknown`: it may have.
  state text not null check (state in ('sending', 'sent', 'failed', 'unknown')),
  attempts integer not null default 1,
  changed_at timestamptz not null default now(),
  primary key (business_id, board_id, week, user_id),
  foreign key (business_id, board_id) references boards (business_id, id) on delete cascade
);
