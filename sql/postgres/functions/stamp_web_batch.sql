-- Marks a batch of a web partition as being on its way to ClickHouse. Answers the times of erased people among its visitors
-- ([{ business_id, visitor_id, from_at, to_at }]), of which nothing is to be inserted; null, and nothing is written, when the
-- position is not p_from at this epoch.
-- p_visitors: [{ business_id, visitor_id }]
create or replace function stamp_web_batch(p_partition text, p_epoch bigint, p_from text, p_to text, p_visitors json)
returns json
language plpgsql
as $$
begin
  update positions set pending = p_to, pending_at = coalesce(pending_at, now())
    where partition = p_partition and epoch = p_epoch and position = p_from;
  if not found then
    return null;
  end if;
  -- A statement of its own: it sees every erasure that was finished without having seen this mark.
  return (
    select coalesce(json_agg(json_build_object(
      'businessId', business_id, 'visitorId', visitor_id, 'from', from_at, 'to', to_at)), '[]')
    from json_to_recordset(p_visitors) as v (business_id uuid, visitor_id text)
    join erased_visits using (business_id, visitor_id)
  );
end
$$;
