-- In steps of two: one past a state is the mark that it was forgotten, and below whatever comes after.
alter sequence visitor_revisions increment by 2;

-- More contacts were identified in it than one browser may be of (rules/link-visitor.ts): it is nobody's from then on.
alter table visitors add column crowded boolean not null default false;

-- Null: whose it was then has been erased, or it is crowded from then on. Without the row that time would fall to whoever
-- had the browser before.
alter table visitor_links alter column contact_id drop not null;

-- The link of a visitor that is news (`from_at`), or null, beside `visitor_ids`, in place of a word that there is any. One with
-- several such links is listed for each.
alter table outbox add column visitor_link_from bigint[] not null default '{}';
insert into outbox (events, event_count, business_ids, contact_ids, changed, visitor_business_ids, visitor_ids, visitor_link_from)
  select '', 0, '{}', '{}', '{}', array_agg(business_id), array_agg(visitor_id), array_agg(from_at)
  from (
    select business_id, visitor_id, from_at, row_number() over (order by business_id, visitor_id, from_at) / 5000 as part
    from visitor_links l
    where (business_id, visitor_id) in (
      select t.business_id, t.visitor_id
      from outbox o, unnest(o.visitor_business_ids, o.visitor_ids, o.visitor_linked) as t (business_id, visitor_id, linked)
      where o.shipped_at is null and t.linked
    )
  ) news
  group by part;
alter table outbox drop column visitor_linked;

-- From a contact to the newest of its browsers.
create index contact_visitors_newest on contact_visitors (business_id, contact_id, linked_at, visitor_id);
drop index contact_visitors_by_contact;
