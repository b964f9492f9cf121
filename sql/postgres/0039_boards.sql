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

-- The language in which the person last used the dashboard: that of their mails. Null: not known.
alter table users add column language text;
