-- Opt-ins that the person confirms.

-- The template of the mail that asks for the confirmation. Null: no opt-in can wait for one.
alter table businesses add column confirmation_template uuid;

-- When confirmations were asked for lately, in epoch ms: the limit of each contact.
create table confirmations (
  business_id uuid not null,
  contact_id uuid not null,
  asked_at bigint[] not null,
  primary key (business_id, contact_id)
);
