-- Erases a person: everything in Postgres under the contact's id and every id merged into it, except for the hashes of
-- its idempotency keys. The ids stay in `erasures`, so that a repeat of an erased event restores nothing. The outbox
-- and ClickHouse are erased from there.
--   p_at  instant of the request, in epoch ms; null: now
create or replace function erase_contact(p_business uuid, p_contact uuid, p_at bigint default null) returns void
language plpgsql
-- The plan is not made for the one business: a business without statistics would be taken for empty, and its rows
-- scanned.
set enable_seqscan = off set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
  ids uuid[] := array(select id from contacts where business_id = p_business and (id = p_contact or merged_into = p_contact));
  browsers text[] := array(select visitor_id from contact_visitors where business_id = p_business and contact_id = any (ids));
  -- Visitors that were identified with this person only, as far as is known.
  own text[] := array(
    select browser from unnest(browsers) as browser where not exists (
      select from contact_visitors l
      where l.business_id = p_business and l.visitor_id = browser collate "C" and l.contact_id <> all (ids)
    ) and not exists (
      select from visitors v where v.business_id = p_business and v.visitor_id = browser collate "C" and v.crowded
    )
  );
  -- A dead letter belongs to the person when it contains one of these: an id, an identity under which it was sent, or a
  -- visitor.
  traces text[] := ids::text[] || array(
    select to_json(kind)::text || ':' || to_json(value)::text from identities
    where business_id = p_business and contact_id = any (ids)
  ) || array(select '"visitorId":' || to_json(browser)::text from unnest(own) as browser);
  -- Every number that the person has, or that a message to them went to.
  numbers text[] := array(
    select value from identities where business_id = p_business and contact_id = any (ids) and kind = 'phone'
    union
    select ltrim(recipient, '+') from messages
    where business_id = p_business and contact_id = any (ids) and channel = 'whatsapp' and recipient is not null
  );
  -- Messages of calls: those to the contact, and those to an address of it that had no contact then.
  own_calls uuid[] := array(
    select id from messages
    where business_id = p_business and contact_id = any (ids) and campaign_id is null
    union
    select c.message_id from identities i join calls c on c.business_id = p_business and c.address = i.value
    where i.business_id = p_business and i.contact_id = any (ids) and i.kind in ('email', 'phone')
  );
  -- Browsers that remain.
  others json;
  segment_changes text;
begin
  -- From here on, everything that is recorded about them has a higher revision.
  perform from visitors where business_id = p_business and visitor_id = any (browsers)
    order by visitor_id collate "C" for update;
  insert into erasures (business_id, contact_id, erased_as, visitor_ids, shared_visitor_ids, visitor_revision)
    select p_business, id, p_contact, case when id = p_contact then own else '{}' end,
      case when id = p_contact then array(select unnest(browsers) except select unnest(own)) else '{}' end,
      nextval('visitor_revisions')
    from unnest(ids) as id;
  perform erase_web_events(p_business, ids);

  -- Unpacks each dead letter once, instead of once for each trace.
  delete from dead_letters d
    where d.business_id = p_business and exists (
      with letter as materialized (select d.payload || '' as payload)
      select from letter, unnest(traces) trace where position(trace in letter.payload) > 0
    );
  delete from identities where business_id = p_business and contact_id = any (ids);
  delete from event_statistics where business_id = p_business and contact_id = any (ids);
  delete from revenue where business_id = p_business and contact_id = any (ids);
  delete from subscriptions where business_id = p_business and contact_id = any (ids);
  delete from consent_history where business_id = p_business and contact_id = any (ids);
  delete from topic_choices where business_id = p_business and contact_id = any (ids);
  delete from topic_history where business_id = p_business and contact_id = any (ids);
  -- In a shared browser, this person may be the one who subscribed. The browser subscribes again.
  delete from push_subscriptions where business_id = p_business and visitor_id = any (browsers);
  delete from visitors where business_id = p_business and visitor_id = any (own);
  delete from visitor_events where business_id = p_business and visitor_id = any (own);
  delete from visitor_links where business_id = p_business and visitor_id = any (own);
  with unowned as (
    update visitor_links set contact_id = null, waits_for = null
    where business_id = p_business and (contact_id = any (ids) or waits_for = any (ids))
    returning business_id, visitor_id, from_at
  )
  insert into outbox (events, event_count, business_ids, contact_ids, changed, visitor_business_ids, visitor_ids, visitor_link_from)
    select '', 0, '{}', '{}', '{}', array_agg(business_id), array_agg(visitor_id), array_agg(from_at)
    from unowned having count(*) > 0;
  -- A visitor that was also identified with others belongs to no contact until the next identification. The touches of
  -- the erased person are deleted.
  with shared as (
    update visitors set
      contact_id = case when contact_id = any (ids) then null else contact_id end,
      current_contact_id = case when current_contact_id = any (ids) then null else current_contact_id end,
      waits = waits and exists (
        select from visitor_links l
        where l.business_id = p_business and l.visitor_id = visitors.visitor_id and l.waits_for is not null
      )
    where business_id = p_business and visitor_id = any (browsers)
    returning business_id, visitor_id
  )
  select json_agg(shared) into others from shared;
  delete from visitor_touches t using erased_visits e
    where t.business_id = p_business and t.visitor_id = any (browsers)
      and e.business_id = t.business_id and e.visitor_id = t.visitor_id and t.at >= e.from_at and t.at < e.to_at;
  if others is not null then
    -- Events of the person that wait in a shared browser.
    delete from visitor_events w using erased_visits e
      where w.business_id = p_business and w.visitor_id = any (browsers)
        and e.business_id = w.business_id and e.visitor_id = w.visitor_id
        -- As in rules/visitors/link-visitor.ts: the times of a browser vary with the network.
        and w.occurred_at + 5000 >= e.from_at and w.occurred_at < e.to_at;
    perform settle_touches(others);
  end if;
  delete from contact_visitors where business_id = p_business and contact_id = any (ids);
  delete from removed_tags where business_id = p_business and contact_id = any (ids);
  delete from identifications where business_id = p_business and contact_id = any (ids);
  insert into erased_enrolments (business_id, campaign_id, state, enrolled_at, ended_at, person)
    select business_id, campaign_id, case when state = 'active' then 'stopped' else state end,
      enrolled_at - enrolled_at % 3600000, ended_at - ended_at % 3600000, person
    from gen_random_uuid() as person, enrolments where business_id = p_business and contact_id = any (ids);
  delete from enrolments where business_id = p_business and contact_id = any (ids);
  perform erase_calls(p_business, own_calls);
  -- In the same order as a sender that settles its message.
  perform from due_steps where business_id = p_business and contact_id = any (ids) order by enrolment_id for update;
  -- A message that is being sent is settled by its sender, if the sender is alive. A message that waits for another
  -- attempt is not sent.
  update messages m set
    contact_id = null, recipient = null, detail = null, provider_message_id = null, "values" = null, checked = null,
    state = case when m.state <> 'claimed' then m.state when sending.claim is null then 'skipped' else 'unknown' end,
    reason = case when m.state = 'claimed' and sending.claim is null then 'ended' else m.reason end
    from messages own left join due_steps sending on sending.business_id = own.business_id and sending.message_id = own.id
      and sending.contact_id = any (ids)
    where own.business_id = p_business and own.contact_id = any (ids) and m.business_id = own.business_id and m.id = own.id;
  delete from due_steps where business_id = p_business and contact_id = any (ids);
  delete from confirmations where business_id = p_business and contact_id = any (ids);
  delete from goal_times where business_id = p_business and contact_id = any (ids);
  delete from chain_refusals where business_id = p_business and contact_id = any (ids);
  delete from deliveries where business_id = p_business and contact_id = any (ids);
  delete from merge_log where business_id = p_business and (contact_id = any (ids) or losing_id = any (ids));
  delete from segment_clock where business_id = p_business and contact_id = any (ids);
  delete from segment_windows where business_id = p_business and contact_id = any (ids);
  delete from segment_window_refreshes where business_id = p_business and contact_id = any (ids);
  segment_changes := end_memberships(p_business, ids,
    coalesce(p_at, (extract(epoch from clock_timestamp()) * 1000)::bigint), 'erasure');
  if segment_changes is not null then
    insert into outbox (events, event_count, business_ids, contact_ids, changed, segment_changes)
      values ('', 0, '{}', '{}', '{}', segment_changes);
  end if;
  delete from contacts where business_id = p_business and id = any (ids);
  -- After the contact, because a message that is being logged, and an id that is being kept, lock its row.
  delete from logged_messages where business_id = p_business and contact_id = any (ids);
  -- A number may have another person by now.
  delete from whatsapp_ids w where w.business_id = p_business and (w.address = any (numbers) or w.wa_id = any (numbers))
    and not exists (
      select from identities i where i.business_id = p_business and i.kind = 'phone' and i.value = w.address collate "C"
    );
end
$$;
