-- What segments read of a contact, beside the columns of 0001_tables.sql. A contact is sent again for them (sql/postgres/0018_resend_contacts.sql).

alter table contact_snapshots
  add column if not exists subscribed Array(LowCardinality(String)) comment 'The channels that the contact opted into',
  add column if not exists date_fields Map(LowCardinality(String), Int64) comment 'The custom fields that are dates, in epoch milliseconds';

create or replace view contacts as
select
  business_id,
  contact_id,
  fromUnixTimestamp64Milli(created_ms, 'UTC') as created_at,
  first_name,
  last_name,
  emails,
  phones,
  platform_customer_ids,
  country,
  city,
  language,
  timezone,
  stage,
  tags,
  custom_fields,
  order_count,
  revenue,
  subscribed
from contact_snapshots final
where merged_into is null and erased = 0;

create or replace view {public}.contacts (
  business_id UUID comment 'The business: name it in every query',
  contact_id UUID comment 'The id that the API answers',
  created_at DateTime64(3, 'UTC') comment 'When we first heard of them',
  first_name Nullable(String) comment 'First name',
  last_name Nullable(String) comment 'Last name',
  emails Array(String) comment 'The primary one first: emails[1], empty text when there is none. Those that only pages have sent come last',
  phones Array(String) comment 'Likewise. + and E.164 digits when the number could be read, else its digits',
  platform_customer_ids Array(String) comment 'Your own id of the person: one, or none',
  country Nullable(String) comment 'As it was sent',
  city Nullable(String) comment 'As it was sent',
  language Nullable(String) comment 'BCP 47 tag',
  timezone Nullable(String) comment 'IANA name',
  stage LowCardinality(String) comment 'Awareness, Consideration, Decision, Retention or Advocacy',
  tags Array(String) comment 'has(tags, \'vip\')',
  custom_fields String comment 'JSON object: JSONExtractString(custom_fields, \'plan\'). A field that is not set, or was cleared, is absent',
  order_count Int64 comment 'How many orders',
  revenue Map(LowCardinality(String), Decimal(38, 6)) comment 'By currency: revenue[\'USD\'], 0 when there was none',
  subscribed Array(LowCardinality(String)) comment 'The channels that they opted into: email, sms, whatsapp, push'
) sql security definer as
select business_id, contact_id, created_at, first_name, last_name, emails, phones, platform_customer_ids, country,
  city, language, timezone, stage, tags, custom_fields, order_count, revenue, subscribed
from contacts
comment 'One row per person, as they are now';
