-- Queues conversions for destinations. A destination that requires click ids gets a conversion only when the contact
-- has one of them. Clicks are looked up once for each contact.
--   p_deliveries  [{ business_id, id, destination_id, event_id, contact_id, event, type, occurred_at, amount, currency,
--                 idempotency_key }]
create or replace function queue_deliveries(p_deliveries json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  with wanted as (
    select * from json_to_recordset(p_deliveries) as x (business_id uuid, id uuid, destination_id uuid, event_id uuid,
      contact_id uuid, event text, type text, occurred_at bigint, amount numeric, currency text, idempotency_key text)
  ),
  clicks_of as materialized (
    select wanted_by.business_id, wanted_by.contact_id, c.until,
      jsonb_object_agg(c.kind, jsonb_build_object('id', c.click_id, 'at', c.clicked_at)) as clicks
    from (
      select business_id, contact_id, array_agg(occurred_at) as untils from wanted group by business_id, contact_id
    ) wanted_by
    cross join lateral find_clicks(wanted_by.business_id, wanted_by.contact_id, wanted_by.untils) c
    group by wanted_by.business_id, wanted_by.contact_id, c.until
  )
  insert into deliveries (business_id, id, destination_id, event_id, contact_id, event, type, occurred_at, amount, currency,
      idempotency_key, clicks)
    select x.business_id, x.id, x.destination_id, x.event_id, x.contact_id, x.event, x.type, x.occurred_at, x.amount,
      x.currency, x.idempotency_key, coalesce(chosen.clicks, '{}')
    from wanted x
    cross join lateral (
      select d.click_ids from destinations d where d.business_id = x.business_id and d.id = x.destination_id limit 1
    ) d
    left join clicks_of c
      on c.business_id = x.business_id and c.contact_id = x.contact_id and c.until = x.occurred_at
    cross join lateral (
      select jsonb_object_agg(kind, click) as clicks from jsonb_each(c.clicks) as every (kind, click)
      where d.click_ids is null or kind = any (d.click_ids)
    ) chosen
    where d.click_ids is null or chosen.clicks is not null;
end
$$;
