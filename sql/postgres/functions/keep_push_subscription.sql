-- Stores a browser's push subscription, in place of any earlier data of its endpoint. An unidentified visitor keeps the
-- newest ten, and so do all browsers of a contact together.
--   p_at  epoch ms
-- Returns false, and stores nothing, when the business does not send by web push. Raises 40001 as see_visitors does.
create or replace function keep_push_subscription(
  p_business uuid, p_visitor text, p_endpoint text, p_p256dh text, p_auth text, p_at bigint
) returns boolean
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  own_key text;
  contact uuid;
begin
  select settings ->> 'publicKey' into own_key from channels
    where business_id = p_business and channel = 'push' and provider = 'webpush';
  if own_key is null then
    return false;
  end if;
  -- From here on, the visitor exists and is locked: it is linked or erased either before or after this.
  perform see_visitors(json_build_array(
    json_build_object('business_id', p_business, 'visitor_id', p_visitor, 'seen_at', p_at)));
  select current_contact_id into contact from visitors
    where business_id = p_business and visitor_id = p_visitor collate "C";
  if contact is not null then
    -- Keeps two browsers of one contact from exceeding the limit together.
    perform pg_advisory_xact_lock(hashtextextended('push subscriptions ' || contact, 0));
  end if;
  insert into push_subscriptions (business_id, endpoint, visitor_id, p256dh, auth, public_key, created_at)
    values (p_business, p_endpoint, p_visitor, p_p256dh, p_auth, own_key, p_at)
  on conflict (business_id, endpoint) do update set
    visitor_id = excluded.visitor_id, p256dh = excluded.p256dh, auth = excluded.auth,
    public_key = excluded.public_key, created_at = excluded.created_at;
  delete from push_subscriptions where business_id = p_business and endpoint in (
    select p.endpoint from push_subscriptions p
    where p.business_id = p_business and p.visitor_id = any (
      p_visitor || array(select v.visitor_id from visitors v where v.business_id = p_business and v.current_contact_id = contact)
    )
    order by (p.endpoint = p_endpoint) desc, p.created_at desc, p.endpoint offset 10
  );
  return true;
end
$$;
