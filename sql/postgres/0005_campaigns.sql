-- Campaigns, and the contacts that are enrolled in them.

create table campaigns (
  business_id uuid not null,
  id uuid not null,
  name text not null,
  status text not null default 'draft' check (status in ('draft', 'published')),
  trigger_event text collate "C" not null,
  can_enter_again boolean not null,
  goal_event text collate "C",
  created_at timestamptz not null default now(),
  published_at timestamptz,
  primary key (business_id, id)
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
  primary key (business_id, contact_id, id)
) with (fillfactor = 80);
create unique index one_active_enrolment on enrolments (business_id, campaign_id, contact_id) where state = 'active';
