-- Filters of the list of contacts that people of a business have saved under a name. All of them see each.
create table saved_views (
  business_id uuid not null references businesses (id),
  id uuid not null,
  name text not null,
  -- { query, tag, stage, field, value }, each a text; those that do not filter are absent.
  filters jsonb not null,
  created_at timestamptz not null default now(),
  primary key (business_id, id)
);
create unique index saved_views_by_name on saved_views (business_id, name);
