-- Statements of the SQL page that people of a business have saved under a name. All who may run SQL see each.
create table saved_queries (
  business_id uuid not null references businesses (id),
  id uuid not null,
  name text not null,
  statement text not null,
  -- The values of its parameters, each a text, by name.
  parameters jsonb not null,
  created_at timestamptz not null default now(),
  primary key (business_id, id)
);
create unique index saved_queries_by_name on saved_queries (business_id, name);
