-- The business is an array in this index, and no contact is left out of it, so that only a list of contacts can use it: a plan
-- made while the table is empty would else take it for any look-up of a contact, and read all of a business from then on.
drop index contacts_by_age;
create index contacts_by_age on contacts ((array[business_id]), created_at, id);
