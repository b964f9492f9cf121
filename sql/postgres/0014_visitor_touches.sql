-- What brought a browser, each time; `visitors` shows the first and the latest of them.

-- A browser tells of a touch again and again, and its time trembles with the network. So reports of the same content that
-- lie no more than 30 minutes apart, each from the next, are one touch: from the first of them until the last.
create table visitor_touches (
  business_id uuid not null,
  visitor_id text collate "C" not null,
  -- Of the content.
  digest uuid not null,
  -- Epoch ms.
  at bigint not null,
  until bigint not null,
  -- { url, referrer, utm, clickIds }
  touch jsonb not null,
  primary key (business_id, visitor_id, digest, at),
  foreign key (business_id, visitor_id) references visitors on delete cascade
);

insert into visitor_touches (business_id, visitor_id, digest, at, until, touch)
  select business_id, visitor_id, md5((told - 'at')::text)::uuid, (told ->> 'at')::bigint, (told ->> 'at')::bigint, told - 'at'
  from visitors cross join lateral (values (first_touch), (latest_touch)) as both_ends (told)
  where told is not null and not exists (
    select from erased_visits e
    where e.business_id = visitors.business_id and e.visitor_id = visitors.visitor_id
      and (told ->> 'at')::bigint >= e.from_at and (told ->> 'at')::bigint < e.to_at
  )
  on conflict do nothing;

-- How the browsers of the row came is news as well.
alter table outbox add column visitor_touched boolean[] not null default '{}';
insert into outbox (events, event_count, business_ids, contact_ids, changed, visitor_business_ids, visitor_ids, visitor_touched)
  select '', 0, '{}', '{}', '{}', array_agg(business_id), array_agg(visitor_id), array_agg(true)
  from (
    select business_id, visitor_id, row_number() over (order by business_id, visitor_id) / 5000 as part
    from visitor_touches group by business_id, visitor_id
  ) v
  group by part;

-- Browsers that somebody else was identified in too: what ClickHouse has of them up to that revision tells of the person.
alter table erasures add column shared_visitor_ids text[] not null default '{}';
