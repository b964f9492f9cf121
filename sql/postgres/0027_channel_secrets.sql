-- The names of the secrets that are sealed in `secret`: of some providers, not all of them are needed.
alter table channels add column secret_names text[] not null default '{}';
update channels set secret_names = case provider when 'smtp' then array['password'] when 'webhook' then array['secret'] end
  where secret is not null and provider in ('smtp', 'webhook');
