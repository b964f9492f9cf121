-- When the person was hidden in ClickHouse, and nothing of theirs could arrive there any more. The ids of browsers stay, as
-- their marks there do: they may come back from a backup that holds more.
alter table erasures add column hidden_at timestamptz;

-- When ClickHouse was rid of a visit once more: it forgets what it deleted, and would take in an insert that comes late.
alter table erased_visits add column swept_at timestamptz;
create index erased_visits_to_sweep on erased_visits (deleted_at) where swept_at is null;
