-- Within some minutes: it is written once a minute for all keys that were used (src/businesses/key-use.ts).
alter table api_keys add column last_used_at timestamptz;
