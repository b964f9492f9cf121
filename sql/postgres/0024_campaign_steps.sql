-- What a campaign does for a contact: steps, the contacts that wait at them, and the messages.

alter table campaigns drop constraint campaigns_status_check;
alter table campaigns add constraint campaigns_status_check check (status in ('draft', 'published', 'paused', 'archived'));
alter table campaigns add column version integer not null default 1;
-- It was archived, and enrolments in it may still be active.
alter table campaigns add column ending boolean not null default false;
create index campaigns_ending on campaigns (business_id, id) where ending;

-- How a campaign goes on after an enrolment. A row never changes, but for that of a draft. A campaign from before there were steps has
-- no row until it is changed.
create table campaign_versions (
  business_id uuid not null,
  campaign_id uuid not null,
  version integer not null,
  -- src/rules/campaigns/definition.ts: quiet hours, caps, hold-out and steps.
  definition jsonb not null,
  -- What a save reads of it. Null without steps.
  first_step text collate "C",
  -- The event that the first step waits for, if it waits for one.
  first_listens_for text collate "C",
  -- The events that any of its steps wait for.
  listens_for text[] not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  primary key (business_id, campaign_id, version)
);

-- The version that the enrolment follows to its end. Null: of a campaign that had no steps.
alter table enrolments add column version integer;
-- The event that started it, while it is active and has steps; its properties as JSON text.
alter table enrolments add column event_name text;
alter table enrolments add column event_properties text;
create index enrolments_by_campaign on enrolments (business_id, campaign_id, id);

-- Where each active enrolment with steps is. One whose message is under way stays until that is settled, also when its enrolment has
-- ended meanwhile.
create table due_steps (
  business_id uuid not null,
  enrolment_id uuid not null,
  contact_id uuid not null,
  campaign_id uuid not null,
  version integer not null,
  step text collate "C" not null,
  -- When the step was reached, and when there is something to do, in epoch ms. While a worker sends its message: when the claim expires.
  began_at bigint not null,
  due_at bigint not null,
  -- The event that the step waits for, and when it happened first since it was reached.
  listens_for text collate "C",
  heard_at bigint,
  -- A wait or a message lies behind the enrolment: from then on quiet hours hold.
  waited boolean not null default false,
  -- The message of this step, once it is claimed; the worker that is sending it now; its attempts so far.
  message_id uuid,
  claim uuid,
  attempts integer not null default 0,
  -- The message is settled: the enrolment goes on after the step.
  settled boolean not null default false,
  -- It fell due while its campaign was paused.
  held boolean not null default false,
  primary key (business_id, enrolment_id)
) with (fillfactor = 70);
create index due_steps_due on due_steps (due_at) where not held;
create index due_steps_of_business on due_steps (business_id, due_at) where not held;
create index due_steps_by_contact on due_steps (business_id, contact_id);
create index due_steps_held on due_steps (business_id, campaign_id) where held;
alter table due_steps set (autovacuum_vacuum_scale_factor = 0.01);

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
  -- What it is rendered from, as JSON text, and what the claim had checked.
  "values" text,
  checked jsonb,
  primary key (business_id, id),
  unique (business_id, enrolment_id, step)
) with (fillfactor = 70);
create index messages_by_contact on messages (business_id, contact_id, channel, claimed_at) where contact_id is not null;
create index messages_by_campaign on messages (business_id, campaign_id, id);
create index messages_kept on messages (claimed_at) where "values" is not null;

-- Enrolments of persons who were erased: they count in reports. The times are those of the hour.
create table erased_enrolments (
  business_id uuid not null,
  campaign_id uuid not null,
  state text not null,
  enrolled_at bigint not null,
  ended_at bigint
);
create index erased_enrolments_by_campaign on erased_enrolments (business_id, campaign_id);
