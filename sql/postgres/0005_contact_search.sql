-- Search for contacts by part of a name, an email, a phone number or a customer id. The business is an array in these indexes, so
-- that a plan for them cannot use any other index: whatever the statistics say, a search does not read all contacts of a business.
-- Each save adds to a pending list, which is merged into the index when it reaches 512 kB. At the default of 4 MB, that merge would
-- delay a save by a tenth of a second.
-- pg_trgm is a trusted extension: the owner of the database may create it. Without it a search walks through the contacts, newest
-- first (functions/find_contacts.sql). To add it later, create the extension as the owner and run this file.
do $$
begin
  create extension if not exists pg_trgm;
  create index identities_search on identities using gin ((array[business_id]), lower(value) gin_trgm_ops)
    with (gin_pending_list_limit = 512);
  create index contacts_search on contacts
    using gin ((array[business_id]), lower(coalesce(first_name, '') || ' ' || coalesce(last_name, '')) gin_trgm_ops)
    with (gin_pending_list_limit = 512)
    where first_name is not null or last_name is not null;
exception when insufficient_privilege or undefined_file or feature_not_supported then
  raise warning 'without the extension pg_trgm a search for contacts takes longer: create it as the owner of the database';
end
$$;
