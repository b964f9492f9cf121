// @long
/**
 * No well-formed call can violate a constraint or a size limit of Postgres or ClickHouse. The tables below list every
 * constraint, every integer and every indexed text of the catalogue, so that each new one has to be considered here.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { BROWSER, speakTo } from '../front-door/http-client.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(() => openService({}, { ownClickHouse: true }))
let tenant: TestBusiness
beforeAll(async () => {
  tenant = await createBusiness(service.sql)
})

/**
 * Reasons why no call violates a constraint. `again`: a unique violation is a race, which is decided again and never
 * blamed on an item.
 */
const REASONS = {
  'our word': 'the value is one of a list in the code, which no caller writes',
  'our id': 'the key is a uuid that was made for the row',
  upserted: 'the statement folds its rows by the key and updates on conflict',
  again: 'another save recorded it meanwhile: a conflict, decided again',
  'one row': 'the migration made the only row',
  counted: 'the rules count, and the version of the configuration is asserted',
  operator: 'set by an operator command, which checks it; no call of a customer writes it',
  person: 'written by a route of the dashboard or an operator command, which checks it; no call of a customer does',
  present: 'the row that it names is made or locked by the same statement or transaction',
} as const

const CONSTRAINTS: Record<string, keyof typeof REASONS> = {
  'account_links.account_links_business_id_fkey': 'person',
  'account_links.account_links_by_invitation': 'person',
  'account_links.account_links_check': 'person',
  'account_links.account_links_email_check': 'person',
  'account_links.account_links_id_key': 'person',
  'account_links.account_links_kind_check': 'person',
  'account_links.account_links_pkey': 'person',
  'account_links.account_links_role_check': 'person',
  'ad_spend.ad_spend_pkey': 'upserted',
  'ad_spend_counts.ad_spend_counts_pkey': 'upserted',
  'api_keys.api_keys_business_id_fkey': 'operator',
  'api_keys.api_keys_key_hash_key': 'operator',
  'api_keys.api_keys_kind_check': 'operator',
  'api_keys.api_keys_pkey': 'our id',
  'audit_log.audit_log_actor_kind_check': 'our word',
  'audit_log.audit_log_by_hour': 'upserted',
  'audit_log.audit_log_pkey': 'our id',
  'broadcast_sets.broadcast_sets_pkey': 'our id',
  'broadcasts.broadcasts_pkey': 'our id',
  'businesses.businesses_bots_check': 'operator',
  'businesses.businesses_demo': 'operator',
  'businesses.businesses_field_count_check': 'counted',
  'businesses.businesses_page_identify_check': 'operator',
  'businesses.businesses_pkey': 'our id',
  'businesses.businesses_rate_limit_check': 'operator',
  'call_attachments.call_attachments_pkey': 'our id',
  'call_keys.call_keys_pkey': 'upserted',
  'calls.calls_pkey': 'our id',
  'due_calls.due_calls_pkey': 'our id',
  'campaign_status_changes.campaign_status_changes_pkey': 'our id',
  'campaign_status_changes.campaign_status_changes_status_check': 'our word',
  'campaign_versions.campaign_versions_pkey': 'our id',
  'campaigns.campaigns_pkey': 'our id',
  'campaigns.campaigns_status_check': 'our word',
  'campaigns.campaigns_trigger_on_check': 'our word',
  'campaigns.campaigns_trigger_web_check': 'our word',
  'campaigns.campaigns_while_active_check': 'our word',
  'campaigns.conditions_on_events': 'our word',
  'campaigns.one_trigger': 'our word',
  'chain_refusals.chain_refusals_pkey': 'upserted',
  'channel_outcomes.channel_outcomes_channel_check': 'our word',
  'confirmations.confirmations_pkey': 'upserted',
  'consent_history.consent_history_channel_check': 'our word',
  'consent_history.consent_history_pkey': 'our id',
  'sender_use.channel_use_channel_check': 'our word',
  'sender_use.sender_use_pkey': 'upserted',
  'senders.channels_channel_check': 'our word',
  'senders.senders_by_key': 'person',
  'senders.senders_default': 'person',
  'senders.senders_pkey': 'upserted',
  'contact_visitors.contact_visitors_pkey': 'upserted',
  'contacts.contacts_pkey': 'upserted',
  'custom_fields.custom_fields_pkey': 'counted',
  'custom_fields.custom_fields_type_check': 'our word',
  'dead_letters.dead_letters_pkey': 'our id',
  'deliveries.deliveries_business_id_destination_id_event_id_key': 'our id',
  'deliveries.deliveries_business_id_destination_id_fkey': 'present',
  'deliveries.deliveries_pkey': 'our id',
  'deliveries.deliveries_state_check': 'our word',
  'destinations.destinations_business_id_fkey': 'operator',
  'destinations.destinations_kind_check': 'operator',
  'destinations.destinations_pkey': 'our id',
  'destinations.destinations_types_check': 'operator',
  'due_steps.due_steps_pkey': 'our id',
  'enrolments.enrolments_pkey': 'our id',
  'enrolments.enrolments_state_check': 'our word',
  'enrolments.one_active_enrolment': 'again',
  'erased_visits.erased_visits_pkey': 'upserted',
  'erasures.erasures_pkey': 'present',
  'event_statistics.event_statistics_pkey': 'upserted',
  'file_cleaning.file_cleaning_only_row_check': 'one row',
  'file_cleaning.file_cleaning_pkey': 'one row',
  'goal_times.goal_times_pkey': 'upserted',
  'idempotency_keys.idempotency_keys_pkey': 'again',
  'identifications.identifications_pkey': 'our id',
  'identities.identities_kind_check': 'our word',
  'identities.identities_pkey': 'again',
  'identities.one_customer_id_per_contact': 'again',
  'installation.installation_only_row_check': 'one row',
  'installation.installation_pkey': 'one row',
  'keyed_enrolments.enrolments_state_check': 'our word',
  'keyed_enrolments.has_key': 'our word',
  'keyed_enrolments.keyed_enrolments_pkey': 'our id',
  'keyed_enrolments.one_active_enrolment_of_key': 'again',
  'logged_messages.logged_messages_channel_check': 'our word',
  'logged_messages.logged_messages_pkey': 'our id',
  'memberships.business_has_owner': 'person',
  'memberships.memberships_business_id_fkey': 'person',
  'memberships.memberships_pkey': 'person',
  'memberships.memberships_role_check': 'person',
  'memberships.memberships_user_id_fkey': 'person',
  'merge_log.merge_log_action_check': 'our word',
  'merge_log.merge_log_pkey': 'our id',
  'messages.messages_business_id_enrolment_id_step_key': 'our id',
  'messages.messages_channel_check': 'our word',
  'messages.messages_pkey': 'our id',
  'messages.messages_state_check': 'our word',
  'message_key.message_key_key_check': 'one row',
  'message_key.message_key_only_row_check': 'one row',
  'message_key.message_key_pkey': 'one row',
  'messaging.messaging_pkey': 'upserted',
  'migrations.migrations_pkey': 'operator',
  'outbox.outbox_pkey': 'our id',
  'partitioning.partitioning_only_row_check': 'one row',
  'partitioning.partitioning_partitions_check': 'operator',
  'partitioning.partitioning_pkey': 'one row',
  'positions.positions_pkey': 'operator',
  'removed_tags.removed_tags_pkey': 'upserted',
  'revenue.revenue_pkey': 'upserted',
  'board_mails.board_mails_business_id_board_id_fkey': 'present',
  'board_mails.board_mails_pkey': 'upserted',
  'board_mails.board_mails_state_check': 'our word',
  'board_recipients.board_recipients_business_id_board_id_fkey': 'person',
  'board_recipients.board_recipients_business_id_user_id_fkey': 'person',
  'board_recipients.board_recipients_pkey': 'person',
  'boards.boards_business_id_fkey': 'person',
  'boards.boards_by_name': 'person',
  'boards.boards_pkey': 'person',
  'saved_queries.saved_queries_business_id_fkey': 'person',
  'saved_queries.saved_queries_by_name': 'person',
  'saved_queries.saved_queries_pkey': 'person',
  'saved_views.saved_views_business_id_fkey': 'person',
  'saved_views.saved_views_by_name': 'person',
  'saved_views.saved_views_pkey': 'person',
  'sessions.sessions_id_key': 'person',
  'segment_builds.segment_builds_pkey': 'upserted',
  'segment_clock.segment_clock_pkey': 'upserted',
  'branch_lease.branch_lease_only_row_check': 'our word',
  'branch_lease.branch_lease_pkey': 'our word',
  'zone_changes.zone_changes_pkey': 'upserted',
  'segment_lease.segment_lease_only_row_check': 'our word',
  'segment_lease.segment_lease_pkey': 'our word',
  'segment_members.segment_members_cause_check': 'our word',
  'segment_members.segment_members_pkey': 'upserted',
  'segment_rules.one_rule_of_a_state': 'our word',
  'segment_rules.segment_rules_pkey': 'our id',
  'segment_rules.segment_rules_state_check': 'our word',
  'segment_window_refreshes.segment_window_refreshes_cause_check': 'our word',
  'segment_window_refreshes.segment_window_refreshes_pkey': 'our id',
  'segment_windows.segment_windows_pkey': 'upserted',
  'segments.segments_pkey': 'our id',
  'sessions.sessions_pkey': 'person',
  'sessions.sessions_user_id_fkey': 'person',
  'subscriptions.subscriptions_channel_check': 'our word',
  'template_versions.template_versions_pkey': 'our id',
  'push_subscriptions.push_subscriptions_business_id_visitor_id_fkey': 'present',
  'push_subscriptions.push_subscriptions_pkey': 'upserted',
  'templates.templates_channel_check': 'our word',
  'templates.templates_pkey': 'our id',
  'subscriptions.subscriptions_pkey': 'upserted',
  'businesses.businesses_one_click_check': 'our word',
  'topic_choices.topic_choices_channel_check': 'our word',
  'topic_choices.topic_choices_pkey': 'upserted',
  'topic_history.topic_history_channel_check': 'our word',
  'topic_history.topic_history_pkey': 'our id',
  'topics.topics_pkey': 'upserted',
  'stop_words.stop_words_channel_check': 'our word',
  'stop_words.stop_words_pkey': 'again',
  'stop_words.stop_words_word_check': 'our word',
  'suppression_counts.suppression_counts_many_check': 'present',
  'suppression_counts.suppression_counts_pkey': 'upserted',
  'suppressions.suppressions_by_address': 'present',
  'suppressions.suppressions_channel_check': 'our word',
  'suppressions.suppressions_pkey': 'our id',
  'suppressions.suppressions_reason_check': 'our word',
  'timeline_lease.timeline_lease_only_row_check': 'one row',
  'timeline_lease.timeline_lease_pkey': 'one row',
  'users.users_email_check': 'person',
  'users.users_email_key': 'person',
  'users.users_pkey': 'person',
  'verify_runs.verify_runs_one_at_a_time': 'operator',
  'verify_runs.verify_runs_pkey': 'our id',
  'visitor_events.visitor_events_pkey': 'our id',
  'visitor_links.visitor_links_pkey': 'again',
  'visitor_touches.visitor_touches_business_id_visitor_id_fkey': 'present',
  'visitor_touches.visitor_touches_pkey': 'upserted',
  'visitors.visitors_pkey': 'upserted',
  'whatsapp_ids.whatsapp_ids_pkey': 'again',
}

/** The largest value that a call can cause in each column of at most 32 bits. */
const INTEGERS: Record<string, number> = {
  // Requests with one key in one hour: 5 times its limit per minute.
  'audit_log.times': 1_000_000_000,
  'board_mails.attempts': 2,
  // At most 100 boards, each placed after the last one.
  'boards.place': 1_000_000_000,
  // One version for each edit.
  'boards.version': 1_000_000_000,
  'businesses.campaign_count': 1000,
  'businesses.field_count': 500,
  'call_attachments.place': 9,
  // The files and the data of a call, and its row.
  'call_attachments.size': 5 * 1024 * 1024,
  'due_calls.bytes': 7 * 1024 * 1024,
  // Within three days, and at least a second apart.
  'due_calls.attempts': 3 * 86_400,
  'due_calls.template_version': 1_000_000_000,
  'messaging.per_address_hour': 1000,
  // At most 1,000 versions of a campaign.
  'campaign_versions.version': 1000,
  'campaigns.version': 1000,
  // Set by an operator; `admin` does not accept more.
  'businesses.rate_limit': 2 ** 31 - 1,
  // All messages that a worker has in flight.
  'channel_outcomes.messages': 64,
  'channel_outcomes.refused': 64,
  'channel_outcomes.unreached': 64,
  'channel_outcomes.reached': 64,
  // `PUT /api/channels/…` does not accept more.
  'senders.daily_budget': 1_000_000_000,
  'senders.per_second': 10_000,
  'senders.reserve': 100,
  'topics.position': 1_000_000,
  // One bit for each field of the profile.
  'contacts.page_filled': 63,
  'contacts.stage': 4,
  'deliveries.attempts': 100,
  // Within a day, and at least seconds apart.
  'due_steps.attempts': 86_400,
  'due_steps.version': 1000,
  'enrolments.version': 1000,
  'keyed_enrolments.version': 1000,
  'messages.template_version': 1_000_000_000,
  // In one micro-batch: a batch request, or groups of 1,000.
  'outbox.event_count': 100_000,
  // In one batch request of 32 MiB. Each of its bytes becomes six at most when its JSON is encoded as JSON again.
  'outbox.unpacked_bytes': 33_554_432 * 6,
  'partitioning.change_to': 10_000,
  'partitioning.partitions': 10_000,
  // One version for each edit.
  'segment_rules.version': 1_000_000_000,
  'segments.version': 1_000_000_000,
  'template_versions.version': 1_000_000_000,
  'templates.version': 1_000_000_000,
  // Counted by the command. This is more contacts than Sluice is designed for.
  'verify_runs.contacts': 1_000_000_000,
  'verify_runs.total_contacts': 1_000_000_000,
  // At most ten guesses a minute, for a hundred years.
  'users.wrong_codes': 1_000_000_000,
}

/** The maximum bytes of each text that a btree indexes. A UTF-16 unit takes at most three bytes of UTF-8. */
const INDEXED: Record<string, number> = {
  'account_links.email': 254 * 3,
  'account_links.token_hash': 32,
  'ad_spend.campaign': 512 * 3,
  'ad_spend.channel': 16,
  // In upper case, a unit becomes three at most.
  'ad_spend.currency': 8 * 3 * 3,
  'ad_spend.source': 256 * 3,
  // A SHA-256.
  'api_keys.key_hash': 32,
  // The id of a user or a key, or the name of a user of the operating system.
  'audit_log.action': 64,
  'audit_log.actor_id': 256,
  'call_keys.key_hash': 16,
  // Of an email; a phone is shorter.
  'calls.address': 254,
  'channel_outcomes.channel': 8,
  'channel_outcomes.sender': 64,
  'sender_use.channel': 8,
  'sender_use.sender': 64,
  'senders.channel': 8,
  'senders.key': 64,
  'contact_visitors.visitor_id': 128 * 3,
  'custom_fields.key': 64,
  'dead_letters.partition': 64,
  // An id of at most 64 UTF-16 units.
  'due_steps.step': 64 * 3,
  'erased_visits.visitor_id': 128 * 3,
  'event_statistics.event': 64 * 3,
  'goal_times.key': 200 * 3,
  'identities.kind': 18,
  'identities.value': 320 * 3,
  'keyed_enrolments.key': 200 * 3,
  'logged_messages.channel': 8,
  'messages.channel': 8,
  // Reported by the provider: src/messages/channels/words.ts.
  'messages.provider_message_id': 300 * 3,
  // An id of at most 64 UTF-16 units.
  'messages.step': 64 * 3,
  'migrations.name': 100,
  'positions.partition': 64,
  'push_subscriptions.endpoint': 1000,
  // As generated by the browser script.
  'push_subscriptions.visitor_id': 32,
  'removed_tags.tag': 64 * 3,
  // In upper case, a unit becomes three at most.
  'revenue.currency': 8 * 3 * 3,
  'boards.name': 100 * 3,
  'saved_queries.name': 100 * 3,
  'saved_views.name': 100 * 3,
  'segment_rules.state': 16,
  'sessions.token_hash': 32,
  'subscriptions.channel': 8,
  'topic_choices.channel': 8,
  'topic_choices.topic': 64,
  'topics.key': 64,
  // Parts of hashes.
  'stop_words.address_hash': 16,
  'stop_words.reply_hash': 16,
  // A part of a hash.
  'suppressions.address_hash': 16,
  'suppressions.reason': 16,
  'users.email': 254 * 3,
  'visitor_events.visitor_id': 128 * 3,
  'visitor_links.visitor_id': 128 * 3,
  'visitor_touches.visitor_id': 128 * 3,
  'visitors.visitor_id': 128 * 3,
  // Digits: src/rules/messages/number-forms.ts.
  'whatsapp_ids.address': 20,
  'whatsapp_ids.wa_id': 20,
}
/** Larger rows are refused by a btree. */
const MAX_INDEX_ROW = 2704

describe('the catalogue of Postgres', () => {
  it('has no constraint that is not accounted for', async () => {
    const rows = await service.sql<{ name: string }[]>`
      select conrelid::regclass || '.' || conname as name from pg_constraint
      where connamespace = 'public'::regnamespace and conrelid <> 0 and contype <> 'n'
      union
      select i.indrelid::regclass || '.' || c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
      where c.relnamespace = 'public'::regnamespace and i.indisunique`
    expect(rows.map(({ name }) => name).toSorted()).toEqual(Object.keys(CONSTRAINTS).toSorted())
  })

  it('has no small integer that a call can exceed', async () => {
    const rows = await service.sql<{ name: string; most: number }[]>`
      select attrelid::regclass || '.' || attname as name, case attlen when 2 then 32767 else 2147483647 end as most
      from pg_attribute join pg_class c on c.oid = attrelid
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and attnum > 0 and not attisdropped
        and atttypid in ('int2'::regtype, 'int4'::regtype)`
    expect(rows.map(({ name }) => name).toSorted()).toEqual(Object.keys(INTEGERS).toSorted())
    for (const { name, most } of rows) expect(INTEGERS[name], name).toBeLessThanOrEqual(most)
  })

  it('has no limited text or number: all are text, numeric or 64 bits', async () => {
    const rows = await service.sql<{ name: string }[]>`
      select attrelid::regclass || '.' || attname as name
      from pg_attribute join pg_class c on c.oid = attrelid
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and attnum > 0 and not attisdropped
        and (atttypmod <> -1 or atttypid in ('float4'::regtype, 'float8'::regtype, 'bpchar'::regtype, 'varchar'::regtype))`
    expect([...rows]).toEqual([])
  })

  it('has no index whose largest row is larger than a row of an index can be', async () => {
    const rows = await service.sql<{ index: string; columns: { name: string; bytes: number }[] }[]>`
      select i.indexrelid::regclass::text as index,
        json_agg(json_build_object('name', i.indrelid::regclass || '.' || a.attname, 'bytes', a.attlen)) as columns
      from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am m on m.oid = c.relam
      cross join lateral unnest(i.indkey::int2[]) as k (attnum)
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
      where c.relnamespace = 'public'::regnamespace and m.amname = 'btree'
      group by i.indexrelid, i.indrelid`
    const texts = new Set<string>()
    for (const { index, columns } of rows) {
      // The header of the row, and the alignment and header of each column.
      let bytes = 16
      for (const { name, bytes: fixed } of columns) {
        if (fixed < 0) texts.add(name)
        bytes += 8 + (fixed < 0 ? (INDEXED[name] ?? Infinity) : fixed)
      }
      expect(bytes, index).toBeLessThanOrEqual(MAX_INDEX_ROW)
    }
    expect([...texts].toSorted()).toEqual(Object.keys(INDEXED).toSorted())
  })
})

/** Characters of three bytes each, which cannot be compressed. */
const wide = (length: number, seed = 1) =>
  Array.from({ length }, (_, n) => String.fromCodePoint(0x4e00 + ((n * 7919 + seed * 104_729) % 20_000))).join('')
/** Characters of four bytes each, which are two units. */
const astral = (units: number, seed = 0) => String.fromCodePoint(0x20000 + seed).repeat(units / 2)
const range = (many: number) => Array.from({ length: many }, (_, n) => n)

const LARGEST = {
  email: `${wide(160)}@${wide(159)}`,
  platformCustomerId: wide(255),
  phone: '+972501234567',
}

describe('the largest calls', () => {
  const send = async (path: string, json: object, key: string | null = tenant.secretKey) => {
    const answer = await speakTo(service.url)('POST', path, {
      ...(key === null ? { headers: BROWSER } : { key }),
      json,
    })
    expect(answer.body).toMatchObject({ success: true })
    expect(answer.status).toBe(200)
    return answer.body.data
  }
  const event = (input: object) => ({ event: wide(64), identity: LARGEST, ...input })
  const deadLetters = async () => {
    const rows = await service.sql`select reason from dead_letters`
    return [...rows]
  }

  it('are applied, shipped and read, and none is a dead letter', async () => {
    await send('/api/campaigns', { name: wide(256), trigger: { event: wide(64) }, goal: { event: astral(64) } })
    const { contactId } = await send('/api/sdk/track', event({ visitorId: wide(128), idempotencyKey: wide(200) }))
    const long = wide(32_768 / 3 - 10)
    const extremes = [
      { event: astral(64), properties: { a: long }, idempotencyKey: astral(200) },
      { occurredAt: '0001-01-01', value: 1e15, currency: 'ΐ'.repeat(8) },
      { occurredAt: Date.now() + 290_000, value: -1e15, currency: wide(8) },
      { value: 5e-324, type: 'purchase' },
      { value: 1.7976931348623157e308, type: 'refund', currency: astral(8) },
      { tags: range(50).map((n) => wide(64, n + 2)) },
      { tags: range(50).map((n) => astral(64, n)) },
      { properties: { 'quoted "text"': '"\\'.repeat(8000) } },
    ]
    for (const extreme of extremes) await send('/api/sdk/track', event(extreme))
    await send('/api/sdk/identify', {
      identity: LARGEST,
      profile: { name: wide(256), firstName: wide(256), lastName: astral(256), country: wide(256), city: wide(256) },
      method: wide(64),
      visitorId: wide(128, 3),
    })
    await send(
      '/api/sdk/browser/track',
      {
        businessId: tenant.businessId,
        visitorId: 'f'.repeat(32),
        event: wide(64),
        messageId: wide(64),
        details: { a: long.slice(0, 8000) },
        first: {
          ageMs: Number.MAX_VALUE,
          url: `https://a.b/${'x'.repeat(500)}`,
          referrer: `https://c.d/${'y'.repeat(500)}`,
        },
      },
      null,
    )
    await send('/api/sdk/identify', { identity: LARGEST, visitorId: 'f'.repeat(32) })
    await service.shipped()
    expect(await deadLetters()).toEqual([])
    const shown = await speakTo(service.url)('GET', `/api/contacts/${String(contactId)}/timeline?limit=100`, {
      key: tenant.secretKey,
    })
    expect(shown.body.data['events']).toHaveLength(extremes.length + 2)
  })

  it('fill every custom field with the longest texts', async () => {
    const text = '\u0001'.repeat(4096)
    const key = (n: number) => `k${String(n).padStart(3, '0')}_${'x'.repeat(59)}`
    const identity = { platformCustomerId: 'fat' }
    // A control character takes six bytes of JSON: a body of 256 KiB holds 10 such texts, a batch 1,300.
    const items = range(50).map((n) => ({
      event: 'fill',
      identity,
      traits: Object.fromEntries(range(10).map((m) => [key(n * 10 + m), text])),
    }))
    for (const part of [0, 1])
      expect(await send('/api/sdk/track/batch', { events: items.slice(part * 25, part * 25 + 25) })).toMatchObject({
        recorded: 25,
        failures: [],
      })
    const { contactId } = await send('/api/sdk/track', { event: 'fill', identity })
    const [row] = await service.sql<[{ fields: number }]>`
      select count(*)::int as fields from contacts c, jsonb_object_keys(c.traits)
      where c.id = ${String(contactId)}`
    expect(row.fields).toBe(500)
    await service.shipped()
    expect(await deadLetters()).toEqual([])
  })

  it('sum the largest amounts exactly, past 64 bits, in Postgres and in ClickHouse', async () => {
    const identity = { platformCustomerId: 'rich' }
    const events = range(500).map(() => ({ event: 'buy', identity, value: 1e15, currency: 'EUR' }))
    for (const _ of range(8)) await send('/api/sdk/track/batch', { events })
    await send('/api/sdk/track', { event: 'buy', identity, value: 0.000001, currency: 'EUR' })
    const [row] = await service.sql<[{ amount: string }]>`
      select r.amount::text from revenue r join identities i on i.contact_id = r.contact_id
      where i.value = 'rich' and r.currency = 'EUR'`
    expect(row.amount).toBe('4000000000000000000.000001')
    await service.shipped()
    const read = async (query: string) => {
      const result = await service.clickhouse.query({ query, format: 'JSONEachRow' })
      return await result.json<Record<string, string>>()
    }
    expect(await read(`select toString(sum(revenue)) as sum from revenue_by_day where currency = 'EUR'`)).toEqual([
      { sum: '4000000000000000000.000001' },
    ])
    expect(
      await read(`select toString(revenue['EUR']) as sum from contacts where has(platform_customer_ids, 'rich')`),
    ).toEqual([{ sum: '4000000000000000000.000001' }])
    expect(await deadLetters()).toEqual([])
  })

  it('leave every view of ClickHouse readable', async () => {
    const tables = await service.clickhouse.query({
      query: `select name from system.tables where database = currentDatabase() and engine = 'View'`,
      format: 'JSONEachRow',
    })
    for (const { name } of await tables.json<{ name: string }>()) {
      const result = await service.clickhouse.query({ query: `select * from ${name}`, format: 'JSONEachRow' })
      expect(Array.isArray(await result.json()), name).toBe(true)
    }
  })

  it('meet no constraint in ClickHouse: none of its tables has one', async () => {
    const result = await service.clickhouse.query({
      query: `select name from system.tables where database = currentDatabase() and create_table_query ilike '% constraint %'`,
      format: 'JSONEachRow',
    })
    expect(await result.json()).toEqual([])
  })
})
