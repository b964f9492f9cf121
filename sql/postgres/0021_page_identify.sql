-- How far a business trusts what a page says about a person (decisions, "Callers without a secret key").

alter table businesses
  -- open: it holds at once. confirmed: of a contact that a keyed call has used, a page changes nothing that a keyed call has not confirmed.
  add column page_identify text not null default 'open' check (page_identify in ('open', 'confirmed'));

alter table contacts
  -- The profile fields whose present value a page filled, as a bit mask: 1 first_name, 2 last_name, 4 country, 8 city,
  -- 16 language, 32 timezone.
  add column page_filled smallint not null default 0;
