-- By which id WhatsApp knows the person at an address that a message went to, where src/rules/messages/number-forms.ts does not say it.
-- A reply brings only the id. Both are digits.
create table whatsapp_ids (
  business_id uuid not null,
  address text collate "C" not null,
  wa_id text collate "C" not null,
  primary key (business_id, address, wa_id)
);
create index whatsapp_ids_by_id on whatsapp_ids (business_id, wa_id);
