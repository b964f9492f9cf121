-- All that must be written for some events, as one statement: who they are about, contacts, identities, statistics, revenue,
-- idempotency keys, the timeline's rows, the position. It decides nothing: no merges, no rules, no answers, no checks.
--   $1 business   $2 emails   $3 event names   $4 instants   $5 amounts   $6 currencies   $7 key hashes   $8 tags
--   $9 traits     $10 the timeline's rows as text
with sent as materialized (
  select * from unnest($2::text[], $3::text[], $4::bigint[], $5::numeric[], $6::text[], $7::uuid[], $8::text[], $9::jsonb[])
    as s (email, event, at, amount, currency, key_hash, tag, traits)
),
people as materialized (
  select named.email, coalesce(held.contact_id, uuidv7()) as contact_id, held.contact_id is null as is_new
  from (select distinct email from sent) named
  left join lateral (
    select i.contact_id from identities i
    where i.business_id = $1::uuid and i.kind = 'email' and i.value = named.email collate "C"
    limit 1
  ) held on true
),
facts as materialized (
  select people.contact_id, sent.* from sent join people using (email)
),
touched as materialized (
  select contact_id, min(at) as created_at, count(amount) as orders,
    coalesce(array_agg(distinct tag) filter (where tag is not null), '{}') as tags,
    coalesce((array_agg(traits order by at desc) filter (where traits is not null))[1], '{}') as traits
  from facts group by contact_id order by contact_id
),
saved_contacts as (
  insert into contacts as c (business_id, id, created_at, order_count, tags, traits)
  select $1::uuid, contact_id, created_at, orders, tags, traits from touched
  on conflict (business_id, id) do update set
    revision = c.revision + 1,
    order_count = c.order_count + excluded.order_count,
    tags = case when c.tags @> excluded.tags then c.tags else c.tags || excluded.tags end,
    traits = case when excluded.traits = '{}' then c.traits else c.traits || excluded.traits end
),
saved_identities as (
  insert into identities (business_id, kind, value, contact_id)
  select $1::uuid, 'email', email, contact_id from people where is_new order by email collate "C"
),
saved_statistics as (
  insert into event_statistics as kept (business_id, contact_id, event, first_at, last_at, count)
  select $1::uuid, contact_id, event, min(at), max(at), count(*) from facts group by contact_id, event
  on conflict (business_id, contact_id, event) do update set
    first_at = least(kept.first_at, excluded.first_at),
    last_at = greatest(kept.last_at, excluded.last_at),
    count = kept.count + excluded.count
),
saved_revenue as (
  insert into revenue as kept (business_id, contact_id, currency, amount)
  select $1::uuid, contact_id, currency, sum(amount) from facts where amount is not null group by contact_id, currency
  on conflict (business_id, contact_id, currency) do update set amount = kept.amount + excluded.amount
),
saved_keys as (
  insert into idempotency_keys (business_id, key_hash, contact_id, occurred_at)
  select $1::uuid, key_hash, contact_id, at from facts where key_hash is not null
),
saved_outbox as (
  insert into outbox (events, contact_ids)
  select $10::text, array_agg(contact_id) from touched
)
update positions set position = position + 1 where partition = 'live-0'
