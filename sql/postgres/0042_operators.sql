-- A business that was removed needs no owner: nobody can open it, and its last owner can be deleted.
create or replace function require_owner() returns trigger language plpgsql as $$
declare
  changed uuid := case when tg_op = 'INSERT' then new.business_id else old.business_id end;
begin
  perform from businesses where id = changed for no key update;
  if exists (select from memberships where business_id = changed and role = 'owner')
    or exists (select from businesses where id = changed and removed_at is not null) then
    return null;
  end if;
  raise exception 'the business % would have no owner', changed
    using errcode = 'check_violation', constraint = 'business_has_owner', table = 'memberships';
end $$;

-- The comparisons of the stores that operators started in the dashboard. One runs at a time in the whole installation.
create table verify_runs (
  id uuid primary key,
  -- The email of the operator.
  started_by text not null,
  started_at timestamptz not null default now(),
  -- The front door that runs it reports every few seconds. One that does not is gone, and so is its run.
  reported_at timestamptz not null default now(),
  contacts integer not null default 0,
  total_contacts integer not null default 0,
  -- What takes long now; empty while contacts are compared.
  activity text not null default '',
  -- An operator wants it to end.
  is_stopping boolean not null default false,
  ended_at timestamptz,
  -- A summary of what the command reports.
  result jsonb
);
create unique index verify_runs_one_at_a_time on verify_runs ((ended_at is null)) where ended_at is null;

-- The newest attempts of a delivery, oldest first, ten at most: [{ at, outcome: sent | retry | unsent | dead, reason }].
alter table deliveries add column attempt_log jsonb not null default '[]';
