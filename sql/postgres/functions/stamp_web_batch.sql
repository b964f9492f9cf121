-- Marks a batch of a web partition as being on its way to ClickHouse. Returns what must not be inserted: `erased`, the
-- periods of erased people among its visitors, and `inactive`, the businesses that were inactive when the batch was
-- first marked (a repeat inserts the same). Returns null, and writes nothing, when the position is not p_from at this
-- epoch.
--   p_visitors  [{ business_id, visitor_id }]
create or replace function stamp_web_batch(p_partition text, p_epoch bigint, p_from text, p_to text, p_visitors json)
returns json
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  inactive uuid[];
begin
  update positions set pending = p_to, pending_at = coalesce(pending_at, now()),
      pending_inactive = case when pending is not null then pending_inactive else array(
        select b.id from (select distinct business_id from json_to_recordset(p_visitors) as v (business_id uuid)) named
        cross join lateral (select id from businesses b where b.id = named.business_id and not b.active offset 0) b
      ) end
    where partition = p_partition and epoch = p_epoch and position = p_from
    returning pending_inactive into inactive;
  if not found then
    return null;
  end if;
  -- A separate statement, so that it sees every erasure that finished without seeing this mark.
  return json_build_object('inactive', inactive, 'erased', (
    select coalesce(json_agg(json_build_object(
      'businessId', erased.business_id, 'visitorId', erased.visitor_id, 'from', erased.from_at, 'to', erased.to_at)), '[]')
    from json_to_recordset(p_visitors) as v (business_id uuid, visitor_id text)
    -- By the whole key, whatever the plan was made for.
    cross join lateral (
      select e.* from erased_visits e
      where e.business_id = v.business_id and e.visitor_id = v.visitor_id collate "C"
      offset 0
    ) erased
  ));
end
$$;
