-- Which events of its name start a campaign, and what explains afterwards why a contact entered it, or was sent something.

-- Null: all of them. `trigger_where`: conditions on the event, as they are shown; `trigger_sources`: ["live"].
alter table campaigns add column trigger_where json;
alter table campaigns add column trigger_sources json;
alter table campaigns add constraint conditions_on_events
  check (trigger_event is not null or num_nonnulls(trigger_where, trigger_sources) = 0);

-- The newest changes of the status of each campaign, those to `draft` left out.
create table campaign_status_changes (
  business_id uuid not null,
  campaign_id uuid not null,
  no bigint generated always as identity,
  status text not null check (status in ('published', 'paused', 'archived')),
  -- In epoch ms. The change holds for the saves that begin after it.
  at bigint not null,
  primary key (business_id, campaign_id, no)
);
insert into campaign_status_changes (business_id, campaign_id, status, at)
select c.business_id, c.id, x.status, floor(extract(epoch from x.at) * 1000)
from campaigns c cross join lateral (
  select 'published' as status, c.published_at as at where c.published_at is not null
  union all
  select case l.action when 'campaign.pause' then 'paused' when 'campaign.resume' then 'published' else 'archived' end, l.at
  from audit_log l
  where l.business_id = c.business_id and l.target = c.id::text
    and l.action in ('campaign.pause', 'campaign.resume', 'campaign.archive')
) x
order by x.at;

-- What holds an enrolment at a step that sends: quiet hours or a cap. Null: nothing does, or its message is to be tried again.
alter table due_steps add column held_by jsonb;
