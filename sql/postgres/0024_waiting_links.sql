-- Which links of browsers calls with a secret key have confirmed, and which wait for one (decisions, "Callers without a secret
-- key"); and when each identification was made, since a browser may be a person's from before (`from_at`).

alter table visitor_links
  -- Epoch ms; null of an older link, which counts as made at `from_at`.
  add column identified_at bigint,
  -- The contact of a link that waits; `contact_id` is null meanwhile.
  add column waits_for uuid;
create index visitor_links_waiting on visitor_links (business_id, waits_for) where waits_for is not null;
update visitor_links l set identified_at = v.linked_at
  from visitors v
  where l.from_at = 0 and v.business_id = l.business_id and v.visitor_id = l.visitor_id and v.linked_at is not null;

-- Some of its links wait.
alter table visitors add column waits boolean not null default false;

alter table contact_visitors
  -- A call with a secret key has named the browser for the contact.
  add column keyed boolean not null default false,
  -- The contact does not list it yet.
  add column waits boolean not null default false;
update contact_visitors c set keyed = true
  from identifications i
  where i.keyed and i.business_id = c.business_id and i.contact_id = c.contact_id and i.visitor_id = c.visitor_id;

-- From a contact to the newest of the browsers that it lists.
create index contact_visitors_listed on contact_visitors (business_id, contact_id, waits, linked_at, visitor_id);
drop index contact_visitors_newest;
