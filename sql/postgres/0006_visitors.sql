-- Visitors are browsers, identified or not: when they were seen, what brought them, which contacts they belong to, and what they
-- did before anyone was identified in them. Instants are milliseconds since the epoch.

-- One sequence for all visitors: a visitor that was erased and comes back gets a higher revision than anything that ClickHouse has
-- of it. In steps of two: the number after a revision marks that this state was forgotten, and is lower than the next state.
create sequence visitor_revisions increment by 2;

create table visitors (
  business_id uuid not null,
  visitor_id text collate "C" not null,
  -- The first contact that was identified in the browser, and when. Null until then.
  contact_id uuid,
  linked_at bigint,
  -- The contact that was identified last. What follows belongs to it.
  current_contact_id uuid,
  -- More contacts were identified in the browser than one browser may have (src/rules/visitors/link-visitor.ts). From then on
  -- it belongs to no contact.
  crowded boolean not null default false,
  -- Some of its links wait for a call with a secret key.
  waits boolean not null default false,
  -- Reported by the browser itself.
  first_seen_at bigint,
  last_seen_at bigint,
  -- { at, url, referrer, utm, clickIds }
  first_touch jsonb,
  latest_touch jsonb,
  -- Goes up with every change. Orders the snapshots that are sent to ClickHouse.
  revision bigint not null default nextval('visitor_revisions'),
  primary key (business_id, visitor_id)
) with (fillfactor = 80);
create index visitors_by_contact on visitors (business_id, contact_id) where contact_id is not null;
create index visitors_by_current_contact on visitors (business_id, current_contact_id) where current_contact_id is not null;
-- Those that are forgotten when they stay away. A visitor whose link waits is not (src/timeline/forget-visitors.ts).
create index visitors_of_nobody on visitors (last_seen_at)
  where contact_id is null and current_contact_id is null and not waits;

-- The contact that a browser belongs to, from `from_at` until the next link. The first link has `from_at` 0: what happened before
-- the first contact was identified belongs to that contact too.
create table visitor_links (
  business_id uuid not null,
  visitor_id text collate "C" not null,
  from_at bigint not null,
  -- Null: the contact was erased, the link waits, or the browser is crowded from then on. Without the row, this time would count
  -- for the contact of the link before it.
  contact_id uuid,
  -- When the identification was made. It may be later than `from_at`.
  identified_at bigint,
  -- The contact of a link that waits for a call with a secret key (decisions, "Callers without a secret key").
  waits_for uuid,
  primary key (business_id, visitor_id, from_at)
);
create index visitor_links_by_contact on visitor_links (business_id, contact_id) where contact_id is not null;
create index visitor_links_waiting on visitor_links (business_id, waits_for) where waits_for is not null;

-- Every contact that was identified in a browser lists it.
create table contact_visitors (
  business_id uuid not null,
  contact_id uuid not null,
  visitor_id text collate "C" not null,
  linked_at bigint not null,
  -- A call with a secret key has named the browser for the contact.
  keyed boolean not null default false,
  -- The contact does not list it yet.
  waits boolean not null default false,
  primary key (business_id, visitor_id, contact_id)
);
-- From a contact to the newest of the browsers that it lists.
create index contact_visitors_listed on contact_visitors (business_id, contact_id, waits, linked_at, visitor_id);

-- Every touch: what brought a browser, each time. `visitors` has the first and the latest. A browser reports the same touch
-- repeatedly, and the reported time varies with the network. So reports of the same content, each at most 30 minutes after the one
-- before, are one touch: from the first report (`at`) to the last (`until`).
create table visitor_touches (
  business_id uuid not null,
  visitor_id text collate "C" not null,
  -- Hash of the content.
  digest uuid not null,
  at bigint not null,
  until bigint not null,
  -- { url, referrer, utm, clickIds }
  touch jsonb not null,
  primary key (business_id, visitor_id, digest, at),
  foreign key (business_id, visitor_id) references visitors on delete cascade
);

-- What a visitor did before a contact was identified in it. A row stays until one is (functions/link_visitors.sql), or until it is
-- too old.
create table visitor_events (
  business_id uuid not null,
  visitor_id text collate "C" not null,
  event_id uuid not null,
  event text collate "C" not null,
  occurred_at bigint not null,
  received_at bigint not null,
  -- The row of the timeline, without a contact (src/outbox/timeline-row.ts).
  line text not null,
  primary key (business_id, visitor_id, event_id)
);
create index visitor_events_by_age on visitor_events (received_at);

-- Where browsers take push messages: an address that a push service has given to a browser (RFC 8030). They belong to visitors, and
-- through them to contacts.
create table push_subscriptions (
  business_id uuid not null,
  endpoint text collate "C" not null,
  visitor_id text collate "C" not null,
  -- In base64url (RFC 8291): the public key of the browser, and the secret that both sides know.
  p256dh text not null,
  auth text not null,
  -- The key of the business that the browser has subscribed to: it takes messages of no other.
  public_key text not null,
  created_at bigint not null,
  primary key (business_id, endpoint),
  foreign key (business_id, visitor_id) references visitors on delete cascade
);
create index push_subscriptions_by_visitor on push_subscriptions (business_id, visitor_id);
