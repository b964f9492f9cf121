-- ClickHouse has learned of identities: it gets the snapshot of every contact that has one once more.
insert into outbox (events, event_count, business_ids, contact_ids, changed)
select '', 0, array_agg(business_id), array_agg(contact_id), array_agg(true)
from (
  select business_id, contact_id, (row_number() over (order by business_id, contact_id) - 1) / 1000 as nth
  from (select distinct business_id, contact_id from identities) known
) numbered
group by nth
order by nth;
