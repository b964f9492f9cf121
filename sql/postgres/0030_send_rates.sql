-- How fast a channel may send, and how much in a day of the business. Null: no limit.
alter table channels add column per_second integer;
alter table channels add column daily_budget integer;

-- What a channel that has such a limit has sent lately, and where its queue ends: src/rules/campaigns/channel-limits.ts. A claim locks
-- the row before it lets a message through.
create table channel_use (
  business_id uuid not null,
  channel text not null check (channel in ('email', 'sms', 'whatsapp', 'push', 'webhook')),
  second bigint not null default 0,
  sent_in_second bigint not null default 0,
  day_ends_at bigint not null default 0,
  sent_in_day bigint not null default 0,
  queue_second bigint not null default 0,
  queue_taken bigint not null default 0,
  late_second bigint not null default 0,
  late_taken bigint not null default 0,
  primary key (business_id, channel)
) with (fillfactor = 50);

-- Campaigns take turns: what is due of each one. Which campaigns have something due is found out by skipping from one to the next.
create index due_steps_of_campaign on due_steps (business_id, campaign_id, due_at) where not held;
drop index due_steps_of_business;
