-- A campaign that enrols each member of a segment once, at one instant.

alter table campaigns drop constraint campaigns_trigger_on_check;
alter table campaigns add constraint campaigns_trigger_on_check check (trigger_on in ('enter', 'leave', 'members'));
-- When the members are to be enrolled, in epoch ms. Null: at the publish.
alter table campaigns add column trigger_at bigint;

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
