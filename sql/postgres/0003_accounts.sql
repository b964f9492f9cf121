-- Users of the dashboard: their sessions, their roles in businesses, their links, and the audit log.

create table users (
  id uuid primary key,
  -- Trimmed and lower-cased: what the person signs in with.
  email text not null unique check (email = lower(email)),
  name text not null default '',
  -- Argon2id as a PHC string. Null until the person has chosen a password.
  password_hash text,
  -- Sees every business and Operations. Only the command line grants it.
  is_operator boolean not null default false,
  -- The secret of the second factor, encrypted with SECRETS_KEY. It counts once `totp_confirmed` is true.
  totp_secret text,
  totp_confirmed boolean not null default false,
  -- The 30-second step of the last accepted code: no code is accepted twice.
  totp_last_step bigint not null default 0,
  -- SHA-256 of the recovery codes that are left.
  recovery_hashes bytea[] not null default '{}',
  created_at timestamptz not null default now(),
  -- The language in which the person last used the dashboard: that of their mails. Null: not known.
  language text
);

create table memberships (
  business_id uuid not null references businesses (id),
  user_id uuid not null references users (id) on delete cascade,
  role text not null check (role in ('owner', 'marketer', 'analyst', 'read-only')),
  created_at timestamptz not null default now(),
  primary key (business_id, user_id)
);
create index memberships_by_user on memberships (user_id);

-- A business that has people has an owner. The lock makes two owners who leave at the same time go one after the other. A business
-- that was removed needs none: nobody can open it, and its last owner can be deleted.
create function require_owner() returns trigger language plpgsql as $$
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
create constraint trigger business_has_owner after insert or update or delete on memberships
  deferrable initially immediate for each row execute function require_owner();

create table sessions (
  -- SHA-256 of the token in the cookie. The token is never stored.
  token_hash bytea primary key,
  -- Names the session in lists.
  id uuid not null unique,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz not null default now(),
  -- Kept up to some minutes: a session that is not used for a while ends.
  seen_at timestamptz not null default now(),
  -- When the person last proved who they are, by password, code or link. Dangerous changes need a recent proof.
  confirmed_at timestamptz not null default now(),
  expires_at timestamptz not null,
  address text not null,
  user_agent text not null
);
create index sessions_by_user on sessions (user_id);
create index sessions_by_expiry on sessions (expires_at);

-- Links that sign in, reset a password or invite. Each is used once.
create table account_links (
  -- SHA-256 of the token in the link.
  token_hash bytea primary key,
  id uuid not null unique,
  kind text not null check (kind in ('sign-in', 'reset', 'invitation')),
  email text not null check (email = lower(email)),
  -- Of an invitation only.
  business_id uuid references businesses (id),
  role text check (role in ('owner', 'marketer', 'analyst', 'read-only')),
  invited_by text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  check ((kind = 'invitation') = (business_id is not null and role is not null))
);
create unique index account_links_by_invitation on account_links (business_id, email) where kind = 'invitation';
create index account_links_by_email on account_links (email);
create index account_links_by_expiry on account_links (expires_at);

-- Who changed what. Holds ids and names of fields, and no personal data of contacts.
create table audit_log (
  id bigint generated always as identity primary key,
  -- Null for a change to the installation.
  business_id uuid,
  at timestamptz not null default now(),
  actor_kind text not null check (actor_kind in ('user', 'key', 'command')),
  -- The id of the user or the key; for a command the name of the operating system's user.
  actor_id text not null,
  -- The email of the user, or the last characters of the key.
  actor_name text not null,
  -- Such as `key.create`.
  action text not null,
  -- The id of what was changed.
  target text,
  details jsonb not null default '{}',
  -- Repeated changes of a key to contacts are counted in one row an hour.
  hour timestamptz,
  times integer not null default 1
);
create index audit_log_by_business on audit_log (business_id, id desc);
create unique index audit_log_by_hour on audit_log (business_id, actor_id, action, hour) where hour is not null;
create index audit_log_by_time on audit_log (at);
-- Counts the test messages of a day.
create index audit_log_channel_tests on audit_log (business_id, at) where action = 'channel.test';
