-- Topics: what a person chooses within a channel, such as a newsletter, and the choices of contacts.

create table topics (
  business_id uuid not null,
  key text collate "C" not null,
  -- Some of email, sms, whatsapp, push, in this order. They may grow, and never shrink.
  channels text[] not null,
  -- Whether a contact without a choice gets it. Never changed: an edit must not subscribe people.
  default_on boolean not null,
  -- Whether the preference page shows it to people who do not get it.
  is_public boolean not null,
  -- { "<language>": { "name", "description"? } }
  names jsonb not null,
  default_language text not null,
  position integer not null,
  -- The template of the mail that asks for the confirmation of an opt-in. Null: the one of the business.
  confirmation_template uuid,
  archived boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  primary key (business_id, key)
);

-- The latest choice of each contact, topic and channel. Without a row, the default of the topic holds.
create table topic_choices (
  business_id uuid not null,
  contact_id uuid not null,
  topic text collate "C" not null,
  channel text not null check (channel in ('email', 'sms', 'whatsapp', 'push')),
  subscribed boolean not null,
  method text not null,
  recorded_at bigint not null,
  primary key (business_id, contact_id, topic, channel)
);
-- For the numbers of a topic. The condition is always true: it keeps other queries from this index, as for `identities_by_contact`.
create index topic_choices_by_topic on topic_choices (business_id, topic, channel, contact_id) where topic is not null;

-- Every recorded choice.
create table topic_history (
  business_id uuid not null,
  contact_id uuid not null,
  id bigint generated always as identity,
  topic text collate "C" not null,
  channel text not null check (channel in ('email', 'sms', 'whatsapp', 'push')),
  subscribed boolean not null,
  method text not null,
  recorded_at bigint not null,
  primary key (business_id, contact_id, id)
);

-- What one click in a mail program, and a form without a choice, end in a message of a topic: the topic, or the channel.
alter table businesses add column one_click text not null default 'topic' check (one_click in ('topic', 'channel'));
-- It has ever had a topic: of the others, nothing of topics is read.
alter table businesses add column has_topics boolean not null default false;
