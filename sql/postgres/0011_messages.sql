-- Messages: the templates that they are made from, the channels that they go by, and the addresses that they do not go to.

-- What a message is rendered from is in template_versions, whose rows never change.
create table templates (
  business_id uuid not null,
  id uuid not null,
  name text not null,
  channel text not null check (channel in ('email', 'sms', 'whatsapp', 'push', 'webhook')),
  version integer not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (business_id, id)
);

-- Outlives its template for a while: a message that is being sent is made from the version that it began with.
create table template_versions (
  business_id uuid not null,
  template_id uuid not null,
  version integer not null,
  channel text not null,
  default_language text not null,
  -- By language, as they were sent: src/messages/templates/template.ts.
  variants jsonb not null,
  -- By language, the HTML of the variants in MJML.
  compiled jsonb not null default '{}',
  -- When a newer version came, or the template was deleted.
  replaced_at timestamptz,
  primary key (business_id, template_id, version)
);
create index template_versions_replaced on template_versions (business_id, replaced_at) where replaced_at is not null;

-- How a business sends the messages of a channel. Without a row, they are only logged.
create table channels (
  business_id uuid not null,
  channel text not null check (channel in ('email', 'sms', 'whatsapp', 'push', 'webhook')),
  -- One of src/messages/channels/providers.ts.
  provider text not null,
  settings jsonb not null,
  -- Encrypted with SECRETS_KEY; null when the provider needs none.
  secret text,
  -- Another one after each change.
  revision uuid not null,
  updated_at timestamptz not null default clock_timestamp(),
  -- The names of the secrets that are sealed in `secret`: of some providers, not all of them are needed.
  secret_names text[] not null default '{}',
  -- How fast it may send, and how much in a day of the business. Null: no limit.
  per_second integer,
  daily_budget integer,
  -- Since when its messages wait, in epoch ms, and why: too many of them were refused because of the sender
  -- (src/rules/messages/too-many-refusals.ts). Null: they do not.
  paused_at bigint,
  pause_reason text,
  -- When it was last saved or resumed, in epoch ms: refusals from before do not count.
  opened_at bigint not null default 0,
  -- The provider before this one, whose callbacks still come: src/messages/callbacks/former-provider.ts.
  former jsonb,
  -- The topic that Amazon reports by. Null: none has reported.
  callback_source text,
  primary key (business_id, channel)
);
create index channels_with_former on channels (((former->>'until')::bigint)) where former is not null;

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

-- What a business has set for all of its campaigns (src/rules/campaigns/messaging.ts). Without a row: the defaults.
create table messaging (
  business_id uuid primary key,
  -- { from, to }; null: none.
  quiet_hours jsonb,
  caps jsonb not null,
  updated_at timestamptz not null default clock_timestamp()
);

-- One message for each enrolment and step, for ever: the claim inserts it before anything is sent.
create table messages (
  business_id uuid not null,
  id uuid not null,
  campaign_id uuid not null,
  enrolment_id uuid not null,
  -- Null once the person was erased: the message then counts in reports only.
  contact_id uuid,
  step text collate "C" not null,
  channel text not null check (channel in ('email', 'sms', 'whatsapp', 'push', 'webhook')),
  state text not null check (state in ('claimed', 'sent', 'delivered', 'bounced', 'complained', 'failed', 'skipped', 'unknown')),
  reason text,
  -- In the provider's own words.
  detail text,
  -- Where it went. Null where the channel has no addresses, and when it went nowhere.
  recipient text,
  -- In epoch ms. Of one that was sent, caps count from the claim.
  claimed_at bigint not null,
  sent_at bigint,
  -- [{ state, at }], in order; `at` in epoch ms.
  states jsonb not null,
  provider text,
  provider_message_id text,
  template_id uuid not null,
  -- Null until it is rendered.
  template_version integer,
  -- What it is rendered from, as JSON text, and what the claim had checked. Nothing reads into them, so that nothing is taken apart.
  "values" text,
  checked json,
  -- Which reports of it the provider has made: src/rules/messages/message-reports.ts.
  reports jsonb not null default '[]',
  -- Whether the events `email_opened` and `email_clicked` of it were recorded: reports count these messages.
  opened boolean not null default false,
  clicked boolean not null default false,
  -- It may have what it is rendered from: src/campaigns/engine/forget-values.ts.
  kept boolean not null default true,
  primary key (business_id, id),
  unique (business_id, enrolment_id, step)
  -- Room for the row once it has its values. Recording what became of it changes no column of an index, and it stays in its page (HOT):
  -- of the provider `log`, and whenever the provider has not answered with an id of its own.
) with (fillfactor = 40);
-- No plan depends on these, and to analyse them costs most: src/campaigns/engine/refresh-statistics.ts.
alter table messages alter column states set statistics 0, alter column checked set statistics 0,
  alter column "values" set statistics 0, alter column reports set statistics 0, alter column detail set statistics 0;
create index messages_by_contact on messages (business_id, contact_id, channel, claimed_at) where contact_id is not null;
create index messages_by_campaign on messages (business_id, campaign_id, id);
create index messages_kept on messages (claimed_at) where kept;
-- For callbacks of providers that cannot bring our own id along.
create index messages_by_provider_id on messages (business_id, provider_message_id) where provider_message_id is not null;

-- The newest messages of each channel that the provider `log` has kept in place of sending them.
create table logged_messages (
  business_id uuid not null,
  channel text not null check (channel in ('email', 'sms', 'whatsapp', 'push', 'webhook')),
  id uuid not null,
  -- Null for a message to no contact.
  contact_id uuid,
  -- Null where the channel has no addresses.
  recipient text,
  -- src/messages/templates/template.ts: RenderedMessage.
  message json not null,
  logged_at timestamptz not null default clock_timestamp(),
  primary key (business_id, channel, id)
);
alter table logged_messages alter column message set statistics 0;
create index logged_messages_by_contact on logged_messages (business_id, contact_id) where contact_id is not null;

-- The key of the hashes below, and of the links in messages by which people unsubscribe. It is made once and stays: with
-- another one, suppressed addresses would be sent messages again, and the links in messages that were sent would be invalid. So it
-- is not SECRETS_KEY, which an operator can replace.
create table message_key (
  only_row boolean primary key default true check (only_row),
  key bytea not null check (length(key) = 32)
);
insert into message_key (key)
  values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

-- Addresses that no message goes to. A row names no contact and shows no address: it outlives an erasure.
create table suppressions (
  business_id uuid not null,
  id uuid not null,
  channel text not null check (channel in ('email', 'sms', 'whatsapp')),
  -- Of business, channel and address: src/messages/suppressions/hash-address.ts.
  address_hash bytea not null,
  -- An address has one row for each reason: START, or lifting the bounces of a bad day, must not lift a complaint.
  reason text not null check (reason in ('hard_bounce', 'complaint', 'stop', 'manual')),
  -- Epoch ms.
  suppressed_at bigint not null,
  primary key (business_id, id)
);
-- The only index for a hash: a plan that was made while the table was empty must not read a business from end to end.
create unique index suppressions_by_address on suppressions (address_hash, reason);
create index suppressions_by_reason on suppressions (business_id, reason, id);

-- The number of rows of each business. Its row is locked before some are added or deleted.
create table suppression_counts (
  business_id uuid primary key,
  many bigint not null check (many >= 0)
);

-- The latest words STOP and START of each address. A provider may repeat and reorder its reports.
create table stop_words (
  business_id uuid not null,
  channel text not null check (channel in ('sms', 'whatsapp')),
  -- src/messages/suppressions/hash-address.ts.
  address_hash bytea not null,
  -- Of the provider's id of the reply.
  reply_hash bytea not null,
  word text not null check (word in ('stop', 'start')),
  -- Epoch ms.
  at bigint not null,
  primary key (address_hash, reply_hash)
);
