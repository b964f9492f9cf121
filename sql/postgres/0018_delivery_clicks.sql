-- How the person had come stays as it was known when the delivery was queued, whatever is told of a browser later:
-- { kind: { id, at (ms) } }, of each kind that the destination takes the newest before the conversion.
alter table deliveries add column clicks jsonb not null default '{}';
-- Those that wait were queued to be looked up when they are sent.
update deliveries d set clicks = found.clicks
from (
  select q.business_id, q.id, jsonb_object_agg(click.key, jsonb_build_object('id', click.value, 'at', click.at)) as clicks
  from deliveries q
  cross join lateral (
    select distinct on (said.key) said.key, said.value, t.at
    from contact_visitors c
    join visitor_touches t on t.business_id = c.business_id and t.visitor_id = c.visitor_id
    cross join lateral jsonb_each_text(
      case jsonb_typeof(t.touch -> 'clickIds') when 'object' then t.touch -> 'clickIds' else '{}' end) said
    where c.business_id = q.business_id and c.contact_id = q.contact_id and said.value <> ''
      and t.at between q.occurred_at - 90 * 86400000::bigint and q.occurred_at
      and q.contact_id = (
        select l.contact_id from visitor_links l
        where l.business_id = t.business_id and l.visitor_id = t.visitor_id and l.from_at <= t.at
        order by l.from_at desc limit 1
      )
    order by said.key, t.at desc
  ) click
  join destinations s on s.business_id = q.business_id and s.id = q.destination_id
  where q.state = 'queued' and (s.click_ids is null or click.key = any (s.click_ids))
  group by q.business_id, q.id
) found
where d.business_id = found.business_id and d.id = found.id;
alter table deliveries alter column clicks drop default;

create index deliveries_under_way on deliveries (business_id, destination_id, next_attempt_at) where claim is not null;
