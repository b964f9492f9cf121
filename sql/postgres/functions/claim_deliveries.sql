-- Claims due deliveries for one sender: at most p_most, and for each destination only as many as keep its deliveries in
-- flight, over all senders, within p_per_destination. A claim that is not settled expires after p_lease_ms. Returns a
-- JSON array with everything that is needed to send them.
create or replace function claim_deliveries(p_claim uuid, p_most integer, p_per_destination integer, p_lease_ms integer)
returns json
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_custom_plan set jit = off
as $$
declare
  place record;
  businesses uuid[] := '{}';
  ids uuid[] := '{}';
begin
  -- Usually, no delivery waits at all. This check has a plan that is cached.
  if not exists (select from deliveries where state = 'queued') then return '[]'; end if;

  -- A destination has one claim at a time: the second sender counts what the first one took.
  for place in
    select d.business_id, d.id from destinations d
    join businesses b on b.id = d.business_id and b.active and b.removed_at is null
    cross join lateral (
      select count(*) as many from deliveries f
      where f.business_id = d.business_id and f.destination_id = d.id and f.claim is not null and f.next_attempt_at > now()
    ) under_way
    where d.active and d.held_until <= now() and under_way.many < p_per_destination and exists (
      select from deliveries q
      where q.business_id = d.business_id and q.destination_id = d.id and q.state = 'queued' and q.next_attempt_at <= now()
    )
    -- The destination with the fewest deliveries in flight comes first. The random order keeps any destination from
    -- waiting behind the same others for ever.
    order by under_way.many, random() limit p_most
    for no key update of d skip locked
  loop
    with due as materialized (
      select q.business_id, q.id from deliveries q
      where q.business_id = place.business_id and q.destination_id = place.id
        and q.state = 'queued' and q.next_attempt_at <= now()
      order by q.next_attempt_at
      limit greatest(0, least(p_most - cardinality(ids), p_per_destination - (
        select count(*) from deliveries f
        where f.business_id = place.business_id and f.destination_id = place.id
          and f.claim is not null and f.next_attempt_at > now()
      )))
      for update skip locked
    ),
    taken as (
      update deliveries q set
        claim = p_claim, attempts = q.attempts + 1, next_attempt_at = now() + p_lease_ms * interval '1 millisecond'
      from due where q.business_id = due.business_id and q.id = due.id
      returning q.business_id, q.id
    )
    select businesses || coalesce(array_agg(business_id), '{}'), ids || coalesce(array_agg(id), '{}')
      into businesses, ids from taken;
    exit when cardinality(ids) >= p_most;
  end loop;
  if ids = '{}' then return '[]'; end if;

  return (
    select coalesce(json_agg(json_build_object(
      'businessId', q.business_id, 'id', q.id, 'attempts', q.attempts,
      'destination', json_build_object('id', d.id, 'kind', d.kind, 'settings', d.settings, 'secret', d.secret),
      'conversion', json_build_object(
        'eventId', q.event_id, 'contactId', q.contact_id, 'event', q.event, 'type', q.type,
        'occurredAt', q.occurred_at, 'amount', q.amount::float8, 'currency', q.currency,
        'idempotencyKey', q.idempotency_key,
        'emails', (
          select coalesce(json_agg(i.value order by i.is_primary desc, i.position), '[]') from identities i
          where i.business_id = q.business_id and i.contact_id = q.contact_id and i.kind = 'email' and i.proven
        ),
        'phones', (
          select coalesce(json_agg(i.value order by i.is_primary desc, i.position), '[]') from identities i
          where i.business_id = q.business_id and i.contact_id = q.contact_id and i.kind = 'phone' and i.phone_read
            and i.proven
        ),
        'customerId', (
          select i.value from identities i
          where i.business_id = q.business_id and i.contact_id = q.contact_id and i.kind = 'platformCustomerId'
            and i.proven
        ),
        'clicks', q.clicks
      ))), '[]')
    from unnest(businesses, ids) as claimed (business_id, id)
    join deliveries q on q.business_id = claimed.business_id and q.id = claimed.id
    join destinations d on d.business_id = q.business_id and d.id = q.destination_id
  );
end
$$;
