-- Campaigns: what they do for a contact, the contacts that are enrolled in them, and those that wait at their steps.

create table campaigns (
  business_id uuid not null,
  id uuid not null,
  name text not null,
  status text not null default 'draft' check (status in ('draft', 'published', 'paused', 'archived')),
  -- It starts with an event, with entering or leaving a segment (or for all of its members at one instant), or with what a browser
  -- captures by itself: see the columns `trigger_…` below.
  trigger_event text collate "C",
  can_enter_again boolean not null,
  goal_event text collate "C",
  created_at timestamptz not null default now(),
  published_at timestamptz,
  trigger_segment uuid,
  trigger_on text check (trigger_on in ('enter', 'leave', 'members')),
  -- Of the present definition, in campaign_versions.
  version integer not null default 1,
  -- It was archived, and enrolments in it may still be active.
  ending boolean not null default false,
  -- When the members of the segment are to be enrolled, in epoch ms. Null: at the publish.
  trigger_at bigint,
  -- Which events of its name start it. Null: all of them. `trigger_where`: conditions on the event, as they are shown;
  -- `trigger_sources`: ["live"].
  trigger_where json,
  trigger_sources json,
  -- A page view, how far it is scrolled, how long it is looked at.
  trigger_web text check (trigger_web in ('page_view', 'scroll_depth', 'active_time')),
  primary key (business_id, id),
  constraint one_trigger check (
    num_nonnulls(trigger_event, trigger_segment, trigger_web) = 1 and (trigger_segment is null) = (trigger_on is null)
  ),
  constraint conditions_on_events check (
    trigger_event is not null or (trigger_sources is null and (trigger_web is not null or trigger_where is null))
  )
);
create index campaigns_ending on campaigns (business_id, id) where ending;
-- Front doors look for them with the settings of a business.
create index campaigns_by_web on campaigns (business_id) where trigger_web is not null and status = 'published';

-- How a campaign goes on after an enrolment. A row never changes, but for that of a draft.
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

-- The newest changes of the status of each campaign, those to `draft` left out.
create table campaign_status_changes (
  business_id uuid not null,
  campaign_id uuid not null,
  no bigint generated always as identity,
  status text not null check (status in ('published', 'paused', 'archived')),
  -- In epoch ms. The change holds for the saves that begin after it.
  at bigint not null,
  primary key (business_id, campaign_id, no)
);

create table enrolments (
  business_id uuid not null,
  id uuid not null,
  campaign_id uuid not null,
  contact_id uuid not null,
  state text not null check (state in ('active', 'finished', 'converted', 'stopped', 'merged')),
  -- The `occurredAt` of the trigger event, in milliseconds since the epoch.
  enrolled_at bigint not null,
  -- When the event was received: orders two enrolments of the same instant.
  received_at bigint not null,
  ended_at bigint,
  -- The version that the enrolment follows to its end. Null: of a campaign that had no steps.
  version integer,
  -- The event that started it, while it is active and has steps; its properties as JSON text.
  event_name text,
  event_properties text,
  -- The first enrolment of the chain that one event has begun: steps change the contact, and so may lead it into other campaigns.
  -- Null: the enrolment itself.
  chain uuid
) with (fillfactor = 80);
create unique index one_active_enrolment on enrolments (business_id, campaign_id, contact_id) where state = 'active';
create index enrolments_by_campaign on enrolments (business_id, campaign_id, id);
-- Where the planner sees no difference, as in an empty table, it takes the youngest index: that is to be the key of the contact's own
-- enrolments, and not the list of a campaign.
alter table enrolments add primary key (business_id, contact_id, id);

-- Enrolments of persons who were erased: they count in reports. The times are those of the hour.
create table erased_enrolments (
  business_id uuid not null,
  campaign_id uuid not null,
  state text not null,
  enrolled_at bigint not null,
  ended_at bigint
);
create index erased_enrolments_by_campaign on erased_enrolments (business_id, campaign_id);

-- The latest time (epoch ms) at which a step would have led a contact into a campaign, and its chain was too long.
create table chain_refusals (
  business_id uuid not null,
  contact_id uuid not null,
  campaign_id uuid not null,
  at bigint not null,
  primary key (business_id, contact_id, campaign_id)
);

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
  -- What holds an enrolment at a step that sends: quiet hours, a cap or a channel. Null: nothing does, or its message is to be tried
  -- again.
  held_by jsonb,
  -- Of a branch whose rules count or sum up the timeline (src/campaigns/engine/answer-branches.ts). Once the timeline has this row of
  -- the outbox, it has all that was recorded before the branch was reached. Null: it is not asked.
  asked_outbox_id bigint,
  -- The counts and sums, by their hashes (src/contacts/window-hashes.ts), as decimals; null without an event. Until the enrolment moves.
  answers jsonb,
  primary key (business_id, enrolment_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
create index due_steps_due on due_steps (due_at) where not held;
create index due_steps_by_contact on due_steps (business_id, contact_id);
create index due_steps_held on due_steps (business_id, campaign_id) where held;
-- Campaigns take turns: what is due of each one. Which campaigns have something due is found out by skipping from one to the next.
create index due_steps_of_campaign on due_steps (business_id, campaign_id, due_at) where not held;
create index due_steps_asking on due_steps (business_id, campaign_id, version, step, asked_outbox_id) where asked_outbox_id is not null;
-- What a channel holds, in its order: src/messages/channels/release-held.ts.
create index due_steps_held_by_channels on due_steps (business_id, (held_by->>'channel'), due_at, enrolment_id)
  where held_by->>'type' in ('per_second', 'daily_budget', 'channel_paused') and not held;
-- What a pause of a channel holds, in its order, however many its limits hold: src/messages/channels/release-held.ts.
create index due_steps_held_by_pauses on due_steps (business_id, (held_by->>'channel'), due_at, enrolment_id)
  where held_by->>'type' = 'channel_paused' and not held;

-- Local times follow a zone that changes. What waits is looked at again behind all that was due before: an import of zones, or another
-- zone of a business, holds up nobody.

-- Epoch ms.
create function now_ms() returns bigint
language sql volatile
as $$ select floor(extract(epoch from clock_timestamp()) * 1000)::bigint $$;

-- Not what is being sent or tried again, no update, and nothing that waits for an event or a channel: no zone is asked for there. Where
-- none is asked for at a wait either, one contact is moved to where it is.
create function follow_zone() returns trigger
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  update due_steps d set due_at = greatest(d.began_at, now_ms())
    where d.business_id = new.business_id and d.contact_id = new.id and d.due_at > now_ms()
      and d.claim is null and d.message_id is null and d.attempts = 0 and not d.settled and not d.held
      and d.asked_outbox_id is null and d.listens_for is null
      and (d.held_by is null or d.held_by->>'type' in ('quiet_hours', 'cap'));
  return null;
end
$$;
create trigger contacts_follow_zone after update of timezone on contacts
  for each row when (old.timezone is distinct from new.timezone) execute function follow_zone();

-- Businesses whose zone has changed, and whose waits are looked at, set by set: src/campaigns/engine/follow-business-zone.ts.
create table zone_changes (
  business_id uuid primary key,
  -- The last one that was looked at, in the order of their ids. The zero id: none yet.
  enrolment_id uuid not null default '00000000-0000-0000-0000-000000000000',
  -- Epoch ms: the latest change, and when those that it has woken last are due.
  changed_at bigint not null default now_ms(),
  woken_at bigint
);

create function follow_business_zone() returns trigger
language plpgsql
as $$
begin
  insert into zone_changes (business_id) values (new.id)
    on conflict (business_id) do update set enrolment_id = excluded.enrolment_id, changed_at = excluded.changed_at;
  return null;
end
$$;
create trigger businesses_follow_zone after update of timezone on businesses
  for each row when (old.timezone is distinct from new.timezone) execute function follow_business_zone();

-- One row: the process that answers branches whose rules count or sum up the timeline.
create table branch_lease (
  only_row boolean primary key default true check (only_row),
  owner uuid,
  lease_until timestamptz not null default '-infinity'
) with (fillfactor = 50);
insert into branch_lease default values;

-- One row for each that was published.
create table broadcasts (
  business_id uuid not null,
  campaign_id uuid not null,
  -- Whose members it enrols, in epoch ms: until they are listed, the instant that was asked for.
  at bigint not null,
  -- How many members there were. Null until they are listed.
  members bigint,
  enrolled bigint not null default 0,
  -- When there is something to do: at first the instant, then the end of the last set, so that broadcasts take turns. Null: nothing,
  -- while the campaign is paused and at the end.
  due_at bigint,
  done_at bigint,
  primary key (business_id, campaign_id)
);
create index broadcasts_due on broadcasts (due_at) where due_at is not null;

-- The members of the instant who are to be enrolled. A set goes with the transaction that enrols it. The ids are those of the instant:
-- a contact that was merged or erased since is found out when the set is enrolled, so that merges and erasures need not look here.
create table broadcast_sets (
  business_id uuid not null,
  campaign_id uuid not null,
  position bigint not null,
  contact_ids uuid[] not null,
  primary key (business_id, campaign_id, position)
);
-- Ids do not become smaller.
alter table broadcast_sets alter column contact_ids set storage external;
