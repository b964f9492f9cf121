-- Applies steps of campaigns with this save, so that their enrolments continue. The contacts are locked.
--   p_applied_steps  [{ business_id, contact_id, enrolment_id, step_id, at, refused }]  at: epoch ms; refused: the
--                    campaigns that the contact did not enter because their chain is too long
-- Raises SL001 when a step was applied before, or when its enrolment has ended: the caller loads and decides again.
create or replace function apply_steps(p_applied_steps json) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  applied record;
begin
  for applied in
    select business_id, contact_id, enrolment_id, step_id, at, refused
    from json_to_recordset(p_applied_steps) as x (business_id uuid, contact_id uuid, enrolment_id uuid, step_id text, at bigint,
      refused json)
  loop
    update due_steps d set settled = true, due_at = applied.at, attempts = 0
      where d.business_id = applied.business_id and d.enrolment_id = applied.enrolment_id
        and d.step = applied.step_id collate "C" and not d.settled;
    if not found then
      raise exception 'a step of a campaign was applied meanwhile' using errcode = 'SL001';
    end if;
    insert into chain_refusals as known (business_id, contact_id, campaign_id, at)
      select applied.business_id, applied.contact_id, value::uuid, applied.at from json_array_elements_text(applied.refused)
    on conflict (business_id, contact_id, campaign_id) do update set at = greatest(known.at, excluded.at);
  end loop;
end
$$;
