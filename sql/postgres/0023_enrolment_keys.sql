-- Campaigns that enrol once for each order, cart or booking, and not once for each contact.

-- The path of the key in the properties of the trigger event. Null: once for each contact.
alter table campaigns add column enrol_per text,
  -- What a trigger event does while its key is active. Null: nothing.
  add column while_active text check (while_active in ('update', 'restart')),
  -- Conditions on the events of the goal, as they are shown; and whether they must carry the key: `true`, or a path.
  add column goal_where json,
  add column goal_key json;

-- The steps that wait for events with conditions, in any order: [{ step, event, where, sameKey }]. Null: there is none.
alter table campaign_versions add column waits json;

alter table enrolments add column key text collate "C",
  -- The key is a text of a page: messages do not contain it.
  add column key_hidden boolean,
  -- The `occurredAt` of the event that templates read, in epoch ms. Null: that of the enrolment.
  add column event_at bigint;

-- Enrolments with keys. A table of its own: saves read the active ones and those of the keys that they name, and a contact may have any
-- number of others. A query of `enrolments` reads these, too.
create table keyed_enrolments (
  constraint has_key check (key is not null)
) inherits (enrolments) with (fillfactor = 80);
create unique index one_active_enrolment_of_key on keyed_enrolments (business_id, campaign_id, contact_id, key) where state = 'active';
create index active_keyed_enrolments on keyed_enrolments (business_id, contact_id) where state = 'active';
create index keyed_enrolments_by_key on keyed_enrolments (business_id, campaign_id, key, contact_id);
create index keyed_enrolments_by_campaign on keyed_enrolments (business_id, campaign_id, id);
alter table keyed_enrolments add primary key (business_id, contact_id, id);

-- Who an erased enrolment belonged to: the same value for those of one person, and for no other person's.
alter table erased_enrolments add column person uuid;

-- The last time of goals whose events meet conditions, in epoch ms. The empty key: the goal does not compare keys.
create table goal_times (
  business_id uuid not null,
  contact_id uuid not null,
  campaign_id uuid not null,
  key text collate "C" not null,
  last_at bigint not null,
  primary key (business_id, contact_id, campaign_id, key)
) with (fillfactor = 80);
