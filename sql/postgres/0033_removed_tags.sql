-- Tags that were removed from a contact, and when (epoch ms): a repeat of an idempotency key adds none that was removed since.
-- At most 1,000 of a contact, the latest.
create table removed_tags (
  business_id uuid not null,
  contact_id uuid not null,
  tag text collate "C" not null,
  removed_at bigint not null,
  primary key (business_id, contact_id, tag)
);
