-- Returns the sightings of a save, and all visitors with links that the save will change: the visitors of contacts that
-- lose a merge (their links move), and those of contacts that a keyed call uses for the first time (their links wait).
--   p_sightings  as in see_visitors, or null
--   p_contact_businesses, p_contact_ids, p_merges, p_link_steps  as in save_changes
create or replace function add_affected_visitors(
  p_sightings json, p_contact_businesses uuid[], p_contact_ids uuid[], p_merges text[], p_link_steps json
) returns json
language plpgsql stable
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  return (
    select json_agg(sighting)
    from (
      select value as sighting from json_array_elements(p_sightings)
      union all
      select json_build_object('business_id', used.business_id, 'visitor_id', used.visitor_id)
      from (
        select p_contact_businesses[loser] as business_id, p_contact_ids[loser] as contact_id
        from unnest(p_merges[1]::integer[]) as x (loser)
        union
        select business_id, contact_id
        from json_to_recordset(p_link_steps) as x (business_id uuid, contact_id uuid, waits boolean) where waits
      ) affected
      cross join lateral (
        select l.business_id, l.visitor_id from contact_visitors l
        where l.business_id = affected.business_id and l.contact_id = affected.contact_id
        offset 0
      ) used
    ) all_sightings
  );
end
$$;
