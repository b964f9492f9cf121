-- The send call: messages that a call asks for, without a campaign (src/calls).

-- A message of a call belongs to no campaign. One without a contact has a recipient until it is erased. The constraint is not
-- validated: that would read the whole table, and no state of the former list is missing in the new one.
alter table messages
  alter column campaign_id drop not null, alter column enrolment_id drop not null, alter column step drop not null,
  drop constraint messages_state_check,
  add constraint messages_state_check check (state in ('queued', 'claimed', 'sent', 'delivered', 'bounced', 'complained', 'failed',
    'skipped', 'unknown')) not valid;

-- What a template reads of the data of a call. By language, the names directly under `data`; null: saved before this column, and so
-- it reads none.
alter table template_versions add column reads_data boolean not null default false, add column data_names jsonb;

-- One row for each message of a call, as long as the message.
create table calls (
  business_id uuid not null,
  message_id uuid not null,
  template_id uuid not null,
  -- Epoch ms.
  called_at bigint not null,
  -- Of a message without a contact: an email in lower case, or the digits of a phone. Null with a contact, and once it is erased.
  address text collate "C",
  primary key (business_id, message_id)
);
create index calls_by_template on calls (business_id, template_id, message_id);
create index calls_by_address on calls (business_id, address) where address is not null;

-- Messages of calls that are not settled.
create table due_calls (
  business_id uuid not null,
  message_id uuid not null,
  -- When there is something to do, in epoch ms. While a worker sends the message: when the claim expires.
  due_at bigint not null,
  -- From then on it is not sent.
  expires_at bigint not null,
  -- The version that its data were checked for.
  template_version integer not null,
  -- src/calls/due-call.ts: CallOptions.
  options json not null,
  claim uuid,
  attempts integer not null default 0,
  -- What holds it: a limit or a pause. Null: nothing does.
  held_by jsonb,
  -- The sender that may have handed it over: no other one may send it.
  bound_to text collate "C",
  -- For the limit of the backlog.
  bytes integer not null,
  primary key (business_id, message_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
create index due_calls_due on due_calls (business_id, due_at);

-- The keys of calls, by a hash of 16 bytes, for ever. They are apart from those of events.
create table call_keys (
  business_id uuid not null,
  key_hash bytea not null,
  message_id uuid not null,
  -- Of the recipient, with the key of messages: a repeat with another one is warned.
  to_hash bytea not null,
  template_id uuid not null,
  primary key (business_id, key_hash)
);

-- The files of mails. Their contents are deleted once the message is settled.
create table call_attachments (
  business_id uuid not null,
  message_id uuid not null,
  place smallint not null,
  filename text not null,
  content_type text not null,
  content_id text,
  size integer not null,
  sha256 bytea not null,
  content bytea,
  primary key (business_id, message_id, place)
);
-- Files are mostly compressed.
alter table call_attachments alter column content set storage external;

-- How many messages of calls one address gets in an hour. Null: any number.
alter table messaging add column per_address_hour integer default 20;
