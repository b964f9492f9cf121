-- Steps that change the contact, and so may lead it into other campaigns.

-- The first enrolment of the chain that one event has begun. Null: the enrolment itself.
alter table enrolments add column chain uuid;
-- Where the planner sees no difference, as in an empty table, it takes the youngest index: that is to be the key of the contact's own
-- enrolments, and not the list of a campaign.
alter table enrolments drop constraint enrolments_pkey;
alter table enrolments add primary key (business_id, contact_id, id);

-- The latest time (epoch ms) at which a step would have led a contact into a campaign, and its chain was too long.
create table chain_refusals (
  business_id uuid not null,
  contact_id uuid not null,
  campaign_id uuid not null,
  at bigint not null,
  primary key (business_id, contact_id, campaign_id)
);
