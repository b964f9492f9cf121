-- What an invitation and an account rest on, and how often a code of the second factor was wrong.

-- An invitation is valid while the person who made it may invite.
alter table account_links add column invited_by_id uuid;
-- Only the mailbox has its link: it was never shown to the person who invites.
alter table account_links add column is_mailed boolean not null default false;
update account_links l set invited_by_id = u.id from users u where l.kind = 'invitation' and u.email = l.invited_by;
delete from account_links l where l.kind = 'invitation' and not exists (
  select from users u where u.id = l.invited_by_id and (u.is_operator or exists (
    select from memberships m where m.user_id = u.id and m.business_id = l.business_id and m.role = 'owner')));
create index account_links_by_inviter on account_links (invited_by_id) where invited_by_id is not null;

-- Whether a link that only their mailbox had, or the command line, has shown that the address is theirs.
alter table users add column email_proven boolean not null default false;

-- Codes since the last right one, and until when no further code is looked at.
alter table users add column wrong_codes integer not null default 0;
alter table users add column codes_paused_until timestamptz;
