-- A channel may have several senders. What was the channel is its sender `default`. Processes of the version before go on with the
-- views below, and see that sender alone.

alter table channels rename to senders;
alter table senders
  add column key text collate "C" not null default 'default',
  -- Of a channel without such a row, `default` is the default sender.
  add column is_default boolean not null default false,
  -- The sender whose connection it uses, with its limits, pauses and callbacks. Then `settings` has the addresses alone.
  add column via text collate "C",
  -- The sender that takes its messages while it is paused or unreachable.
  add column fallback text collate "C",
  -- Percentage of the daily budget that marketing leaves.
  add column reserve integer not null default 0,
  -- Since when no connection has come about, and when a message last tried nevertheless, in epoch ms.
  add column unreachable_at bigint,
  add column tried_at bigint not null default 0,
  -- What was found in DNS (src/messages/channels/check-sender.ts), and whether the engine is to look again.
  add column checked json,
  add column check_wanted boolean not null default false,
  -- In epoch ms: its callbacks still count for a while.
  add column deleted_at bigint;
alter table senders drop constraint channels_pkey, add constraint senders_pkey primary key (business_id, channel, key);
alter index channels_with_former rename to senders_with_former;
create unique index senders_by_key on senders (business_id, key) where key <> 'default' and deleted_at is null;
create unique index senders_default on senders (business_id, channel) where is_default;
create index senders_to_check on senders (business_id, channel, key) where check_wanted;
create index senders_deleted on senders (deleted_at) where deleted_at is not null;

create view channels as
  select business_id, channel, provider, settings, secret, revision, updated_at, secret_names, per_second, daily_budget, paused_at,
    pause_reason, opened_at, former, callback_source, key
  from senders where key = 'default';

alter table channel_use rename to sender_use;
alter table sender_use add column sender text collate "C" not null default 'default';
alter table sender_use drop constraint channel_use_pkey, add constraint sender_use_pkey primary key (business_id, channel, sender);
create view channel_use as
  select business_id, channel, second, sent_in_second, day_ends_at, sent_in_day, queue_second, queue_taken, late_second, late_taken, sender
  from sender_use where sender = 'default';

-- `unreached`: attempts without a connection. `reached`: attempts with one that are tried again.
alter table channel_outcomes
  add column sender text collate "C" not null default 'default',
  add column unreached integer not null default 0,
  add column reached integer not null default 0;
create index channel_outcomes_of_sender on channel_outcomes (business_id, channel, sender, at) include (messages, refused, unreached, reached);
drop index channel_outcomes_of_channel;

-- The sender of its messages. Null: the campaign's, or the channel's default.
alter table templates add column sender text collate "C";

-- The sender that a message was claimed for, the one whose connection it takes, and the address that it was sent from. Null: `default`.
-- `retried`: it was tried again.
alter table messages
  add column sender text collate "C",
  add column connection text collate "C",
  add column sent_from text,
  add column retried boolean not null default false;

-- The sender that may have handed the message over: no other one may send it.
alter table due_steps add column bound_to text collate "C";
