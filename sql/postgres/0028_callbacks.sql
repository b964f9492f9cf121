-- What providers report of messages.

-- Which reports there were: src/rules/messages/message-reports.ts.
alter table messages add column reports jsonb not null default '[]';
-- For callbacks of providers that cannot bring our own id along.
create index messages_by_provider_id on messages (business_id, provider_message_id) where provider_message_id is not null;

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
