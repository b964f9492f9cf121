-- Branches whose rules count or sum up the timeline: src/campaigns/engine/answer-branches.ts.

-- Once the timeline has this row of the outbox, it has all that was recorded before the branch was reached. Null: it is not asked.
alter table due_steps add column asked_outbox_id bigint;
-- The counts and sums, by their hashes (src/contacts/window-hashes.ts), as decimals; null without an event. Until the enrolment moves.
alter table due_steps add column answers jsonb;
create index due_steps_asking on due_steps (business_id, campaign_id, version, step, asked_outbox_id) where asked_outbox_id is not null;

-- One row: the process that answers them.
create table branch_lease (
  only_row boolean primary key default true check (only_row),
  owner uuid,
  lease_until timestamptz not null default '-infinity'
) with (fillfactor = 50);
insert into branch_lease default values;

-- What a channel holds, in its order: src/messages/channels/wake-held.ts.
create index due_steps_held_by_channels on due_steps (business_id, (held_by->>'channel'), due_at, enrolment_id)
  where held_by->>'type' in ('per_second', 'daily_budget', 'channel_paused') and not held;
drop index due_steps_of_paused_channels;

-- The provider before this one, whose callbacks still come: src/messages/callbacks/former-provider.ts.
alter table channels add column former jsonb;
create index channels_with_former on channels (((former->>'until')::bigint)) where former is not null;
-- The topic that Amazon reports by. Null: none has reported.
alter table channels add column callback_source text;

-- Local times follow the contact's zone at once: what waits is looked at again. Not what is being sent or tried again, and no update.
create function follow_zone() returns trigger
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  update due_steps d set due_at = d.began_at
    where d.business_id = new.business_id and d.contact_id = new.id and d.due_at > d.began_at
      and d.claim is null and d.message_id is null and d.attempts = 0 and not d.settled and not d.held
      and d.asked_outbox_id is null;
  return null;
end
$$;
create trigger contacts_follow_zone after update of timezone on contacts
  for each row when (old.timezone is distinct from new.timezone) execute function follow_zone();
