-- Local times follow a zone that changes. What waits is looked at again behind all that was due before: an import of zones, or another
-- zone of a business, holds up nobody.

-- Epoch ms.
create function now_ms() returns bigint
language sql volatile
as $$ select (extract(epoch from clock_timestamp()) * 1000)::bigint $$;

-- Not what is being sent or tried again, no update, and nothing that waits for an event or a channel: no zone is asked for there.
create or replace function follow_zone() returns trigger
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  update due_steps d set due_at = greatest(d.began_at, now_ms())
    where d.business_id = new.business_id and d.contact_id = new.id and d.due_at > now_ms()
      and d.claim is null and d.message_id is null and d.attempts = 0 and not d.settled and not d.held
      and d.asked_outbox_id is null and d.listens_for is null
      and (d.held_by is null or d.held_by->>'type' in ('quiet_hours', 'cap'));
  return null;
end
$$;

-- Businesses whose zone has changed, and whose waits are looked at, set by set: src/campaigns/engine/follow-business-zone.ts.
create table zone_changes (
  business_id uuid primary key,
  -- The last one that was looked at, in the order of their ids. The zero id: none yet.
  enrolment_id uuid not null default '00000000-0000-0000-0000-000000000000'
);

create function follow_business_zone() returns trigger
language plpgsql
as $$
begin
  insert into zone_changes (business_id) values (new.id)
    on conflict (business_id) do update set enrolment_id = excluded.enrolment_id;
  return null;
end
$$;
create trigger businesses_follow_zone after update of timezone on businesses
  for each row when (old.timezone is distinct from new.timezone) execute function follow_business_zone();
