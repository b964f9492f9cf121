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
  primary key (business_id, channel)
);

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
  message jsonb not null,
  logged_at timestamptz not null default clock_timestamp(),
  primary key (business_id, channel, id)
);

create index logged_messages_by_contact on logged_messages (business_id, contact_id) where contact_id is not null;

-- Counts the test messages of a day.
create index audit_log_channel_tests on audit_log (business_id, at) where action = 'channel.test';
