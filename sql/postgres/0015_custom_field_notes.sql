-- What the people of a business say about a custom field. Its data stays as it is.

alter table custom_fields add column description text not null default '';
-- Left out where fields are picked.
alter table custom_fields add column hidden boolean not null default false;
