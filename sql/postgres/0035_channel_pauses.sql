-- A channel is paused when too many of its messages are refused because of the sender: src/rules/messages/too-many-refusals.ts.

-- Since when the messages of the channel wait, in epoch ms, and why. Null: they do not.
alter table channels add column paused_at bigint;
alter table channels add column pause_reason text;
-- When it was last saved or resumed, in epoch ms: refusals from before do not count.
alter table channels add column opened_at bigint not null default 0;

-- What became of the latest messages of a channel: a row for those that were recorded together. A row never changes, so that no worker
-- waits for another.
create table channel_outcomes (
  business_id uuid not null,
  channel text not null check (channel in ('email', 'sms', 'whatsapp', 'push', 'webhook')),
  -- Epoch ms.
  at bigint not null,
  messages integer not null,
  -- How many were refused because of the sender.
  refused integer not null
);
create index channel_outcomes_of_channel on channel_outcomes (business_id, channel, at) include (messages, refused);
create index channel_outcomes_by_age on channel_outcomes (at);

-- What goes on when a channel is resumed.
create index due_steps_of_paused_channels on due_steps (business_id, (held_by->>'channel'))
  where held_by->>'type' = 'channel_paused';
