-- Erases messages of calls: nothing is left of them that could identify a person. They still count.
create or replace function erase_calls(p_business uuid, p_messages uuid[]) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
begin
  -- In the same order as a sender that settles its message. A message that is being sent is settled by its sender, if the sender is
  -- alive; one that waits is not sent.
  perform from due_calls where business_id = p_business and message_id = any (p_messages) order by message_id for update;
  update messages m set
    contact_id = null, recipient = null, detail = null, provider_message_id = null, "values" = null, checked = null, kept = false,
    state = case when m.state not in ('queued', 'claimed') then m.state when due.claim is null then 'skipped' else 'unknown' end,
    reason = case when m.state in ('queued', 'claimed') and due.claim is null then 'ended' else m.reason end
    from messages own left join due_calls due on due.business_id = own.business_id and due.message_id = own.id
    where own.business_id = p_business and own.id = any (p_messages) and m.business_id = own.business_id and m.id = own.id;
  update calls set address = null where business_id = p_business and message_id = any (p_messages);
  delete from due_calls where business_id = p_business and message_id = any (p_messages);
  delete from call_attachments where business_id = p_business and message_id = any (p_messages);
  delete from logged_messages
    where business_id = p_business and channel in ('email', 'sms', 'whatsapp', 'push') and id = any (p_messages);
end
$$;
