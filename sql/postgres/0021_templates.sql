-- Templates of messages. What a message is rendered from is in template_versions, whose rows never change.
create table templates (
  business_id uuid not null,
  id uuid not null,
  name text not null,
  channel text not null check (channel in ('email', 'sms', 'whatsapp', 'push', 'webhook')),
  version integer not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (business_id, id)
);

-- Outlives its template for a while: a message that is being sent is made from the version that it began with.
create table template_versions (
  business_id uuid not null,
  template_id uuid not null,
  version integer not null,
  channel text not null,
  default_language text not null,
  -- By language, as they were sent: src/messages/templates/template.ts.
  variants jsonb not null,
  -- By language, the HTML of the variants in MJML.
  compiled jsonb not null default '{}',
  -- When a newer version came, or the template was deleted.
  replaced_at timestamptz,
  primary key (business_id, template_id, version)
);

create index template_versions_replaced on template_versions (business_id, replaced_at) where replaced_at is not null;
