-- The snapshots of contacts in ClickHouse have got columns (sql/clickhouse/0007_subscribed_contacts.sql): all contacts are sent again.
insert into outbox (events, event_count, business_ids, contact_ids, changed)
select '', 0, array_agg(business_id), array_agg(id), array_agg(true)
from (
  select business_id, id, (row_number() over (order by business_id, id) - 1) / 1000 as part
  from contacts where merged_into is null
) numbered
group by part;
