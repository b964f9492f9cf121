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
