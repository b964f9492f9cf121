-- The turns that a sender keeps for messages of calls: they go before those of campaigns (src/rules/campaigns/channel-limits.ts).
alter table sender_use
  add column call_second bigint not null default 0,
  add column call_taken bigint not null default 0,
  add column calls_in_second bigint not null default 0;
