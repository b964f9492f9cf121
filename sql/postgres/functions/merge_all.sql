-- Applies the merges of a save, together for each business. Returns the contacts that now have another survivor.
--   p_contact_businesses, p_contact_ids, p_merges  as in save_changes
create or replace function merge_all(p_contact_businesses uuid[], p_contact_ids uuid[], p_merges text[])
returns table (business_id uuid, contact_id uuid)
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  merges record;
begin
  for merges in
    select p_contact_businesses[loser] as business_id, array_agg(p_contact_ids[loser] order by nth) as losers,
      array_agg(p_contact_ids[survivor] order by nth) as survivors
    from unnest(p_merges[1]::integer[], p_merges[2]::integer[]) with ordinality as x (loser, survivor, nth)
    group by 1
  loop
    return query select merges.business_id, unnest(merge_contacts(merges.business_id, merges.losers, merges.survivors));
  end loop;
end
$$;
