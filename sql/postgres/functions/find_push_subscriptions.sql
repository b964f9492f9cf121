-- Returns the push subscriptions of a contact: those of the browsers in which it was the last to be identified, made
-- with the current key of the business. For a contact that a call with a secret key has used, only browsers that such a
-- call has named count. Returns at most the newest ten, newest first.
create or replace function find_push_subscriptions(p_business uuid, p_contact uuid)
returns table (endpoint text, p256dh text, auth text)
language sql stable
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
  select p.endpoint, p.p256dh, p.auth
  from contacts asked
  join contacts c on c.business_id = asked.business_id and c.id = coalesce(asked.merged_into, asked.id)
  join channels k on k.business_id = c.business_id and k.channel = 'push' and k.provider = 'webpush'
  join visitors v on v.business_id = c.business_id and v.current_contact_id = c.id
  join push_subscriptions p on p.business_id = v.business_id and p.visitor_id = v.visitor_id
    and p.public_key = k.settings ->> 'publicKey'
  where asked.business_id = p_business and asked.id = p_contact
    and (not c.keyed or exists (
      select from contact_visitors l
      where l.business_id = v.business_id and l.visitor_id = v.visitor_id and l.contact_id = c.id and l.keyed
    ))
  order by p.created_at desc, p.endpoint limit 10
$$;
