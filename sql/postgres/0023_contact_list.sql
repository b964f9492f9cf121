-- Contacts as a list, newest first. Nothing indexed here changes with an event.
create index contacts_by_age on contacts (business_id, created_at, id) where merged_into is null;

-- Contacts by part of a name, an email, a phone or a customer id. The business is an array in these indexes, so that a plan for
-- them can use no other: whatever the statistics say, a search does not read all of a business. A save adds to a list that is
-- merged into the index each time it reaches 512 kB; the default of 4 MB would hold up a save for a tenth of a second.
-- pg_trgm is a trusted extension: the owner of the database may create it. Where neither is possible a search walks through the
-- contacts, newest first (find_contacts).
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
