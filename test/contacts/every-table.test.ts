/** Every table whose rows belong to a contact takes part in merges and in erasures. The catalogues list the tables. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { finishWebErasures } from '../../src/erasure/finish-web-erasures.ts'
import { eraseAll, openLab, query } from '../timeline/lab.ts'
import { useOpened } from '../support/use-opened.ts'

const lab = useOpened(openLab)

interface Column {
  table: string
  column: string
}
const nameOf = ({ table, column }: Column): string => `${table}.${column}`

/** Columns with ids of other things than contacts. Every other column of ids counts as one of contacts. */
const OTHER_IDS = new Set([
  'account_links.id',
  'account_links.invited_by_id',
  'api_keys.id',
  'branch_lease.owner',
  'zone_changes.enrolment_id',
  'board_mails.board_id',
  'board_mails.user_id',
  'board_recipients.board_id',
  'board_recipients.user_id',
  'boards.id',
  'broadcast_sets.campaign_id',
  'broadcasts.campaign_id',
  'businesses.confirmation_template',
  'businesses.id',
  'chain_refusals.campaign_id',
  'call_attachments.message_id',
  'call_keys.message_id',
  'call_keys.template_id',
  'calls.message_id',
  'calls.template_id',
  'campaign_status_changes.campaign_id',
  'campaign_versions.campaign_id',
  'campaigns.id',
  'campaigns.trigger_segment',
  'dead_letters.id',
  'dead_letters.suspect',
  'deliveries.claim',
  'deliveries.destination_id',
  'deliveries.event_id',
  'deliveries.id',
  'destinations.id',
  'due_calls.claim',
  'due_calls.message_id',
  'due_steps.campaign_id',
  'due_steps.claim',
  'due_steps.enrolment_id',
  'due_steps.message_id',
  'enrolments.campaign_id',
  'enrolments.chain',
  'enrolments.id',
  'keyed_enrolments.campaign_id',
  'keyed_enrolments.chain',
  'keyed_enrolments.id',
  'idempotency_keys.key_hash',
  'identifications.id',
  'erased_enrolments.campaign_id',
  'erased_enrolments.person',
  'goal_times.campaign_id',
  'memberships.user_id',
  'messages.campaign_id',
  'messages.enrolment_id',
  'messages.id',
  'messages.template_id',
  'installation.id',
  'logged_messages.id',
  'merge_log.id',
  'outbox.group_id',
  'outbox.resend',
  'positions.attempt',
  'positions.pending_inactive',
  'saved_queries.id',
  'saved_views.id',
  'segment_lease.owner',
  'segment_rules.segment_id',
  'segment_windows.key_hash',
  'segments.id',
  'senders.revision',
  'suppressions.id',
  'template_versions.template_id',
  'templates.id',
  'sessions.id',
  'sessions.user_id',
  'timeline_lease.owner',
  'users.id',
  'verify_runs.id',
  'visitor_events.event_id',
  'visitor_touches.digest',
  'topics.confirmation_template',
])

/** Columns that a function does not change, with the reason. */
const LEFT: Record<string, Record<string, string>> = {
  merge_contacts: {
    'broadcast_sets.contact_ids': 'the survivor is found out when the set is enrolled',
    'segment_builds.cursor': 'how far a pass over all contacts has come',
    'segment_members.contact_id': 'end_memberships deletes them',
    'dead_letters.contact_id': 'a line that ClickHouse cannot read stays as it was shipped',
    'erasures.contact_id': 'an erased contact is not merged',
    'erasures.erased_as': 'as above',
    'idempotency_keys.contact_id': 'a repeat resolves it to the survivor',
    'keyed_enrolments.contact_id': 'an update of `enrolments` changes it, too',
    'merge_log.contact_id': 'the log says what the ids were then',
    'merge_log.losing_id': 'as above',
    'topic_choices.contact_id': 'save_topics merges them, after what was merged here',
    'topic_history.contact_id': 'as above',
    'outbox.contact_ids': 'what was shipped so far is shipped again under the survivor: save_changes adds a row',
  },
  erase_contact: {
    'broadcast_sets.contact_ids': 'they find no contact any more, and stay in `erasures` anyway',
    'segment_builds.cursor': 'how far a pass over all contacts has come',
    'segment_members.contact_id': 'end_memberships deletes them',
    'contacts.merged_into': 'the row of a merged contact is deleted by its id',
    'dead_letters.contact_id': 'src/timeline/shipping/mask-erased-contacts.ts deletes such lines',
    'erasures.contact_id': 'the function writes it',
    'erasures.erased_as': 'as above',
    'idempotency_keys.contact_id': 'the hashes of keys stay, so that a repeat applies nothing',
    'keyed_enrolments.contact_id': 'a delete from `enrolments` takes it, too',
    'outbox.contact_ids': 'src/outbox/scrub-outbox.ts takes the person out of it',
  },
}

/** The same for the ids of browsers. */
const LEFT_BROWSERS: Record<string, string> = {
  'contact_visitors.visitor_id': 'the row is deleted by its contact',
  'erased_visits.visitor_id': 'erase_web_events writes it',
  'erasures.shared_visitor_ids': 'the function writes it',
  'erasures.visitor_ids': 'as above',
  'identifications.visitor_id': 'the row is deleted by its contact',
  'outbox.visitor_ids': 'a row names the browsers whose present state is to be sent',
}

const readColumns = (type: string): Promise<Column[]> => lab.sql<Column[]>`
  select c.table_name as table, c.column_name as column
  from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
  where c.table_schema = current_schema() and t.table_type = 'BASE TABLE' and c.udt_name in (${type}, ${`_${type}`})
  order by 1, 2`

/** Lists the columns that no update or delete of the function names. */
function findUnnamed(functionName: string, columns: Column[]): string[] {
  const text = readFileSync(new URL(`../../sql/postgres/functions/${functionName}.sql`, import.meta.url), 'utf8')
  const statements = text.replaceAll(/--.*/g, '').split(';')
  const isNamed = ({ table, column }: Column) =>
    statements.some(
      (one) =>
        new RegExp(String.raw`\b(update|delete from) ${table}\b`).test(one) &&
        new RegExp(String.raw`\b${column}\b`).test(one),
    )
  return columns.filter((one) => !isNamed(one)).map(nameOf)
}

describe('in Postgres', () => {
  it.each(Object.keys(LEFT))('%s names every column with the id of a contact', async (name) => {
    const ids = (await readColumns('uuid')).filter(({ column }) => !/(^|_)business_ids?$/.test(column))
    expect(OTHER_IDS).toEqual(new Set(ids.map(nameOf).filter((one) => OTHER_IDS.has(one))))
    const columns = ids.filter((one) => !OTHER_IDS.has(nameOf(one)))
    expect(columns.length).toBeGreaterThan(15)
    expect(findUnnamed(name, columns).toSorted()).toEqual(Object.keys(LEFT[name]!).toSorted())
  })

  it('erase_contact names every column with the id of a browser', async () => {
    const columns = (await readColumns('text')).filter(({ column }) => /(^|_)visitor_ids?$/.test(column))
    expect(columns.length).toBeGreaterThan(7)
    expect(findUnnamed('erase_contact', columns).toSorted()).toEqual(Object.keys(LEFT_BROWSERS).toSorted())
  })
})

describe('in ClickHouse', () => {
  const VISITOR = 'a'.repeat(32)
  /** Values that a row needs so that views show it. All other columns have their defaults. */
  const SEEDS: Record<string, Record<string, unknown>> = {
    events: { type: 'purchase', is_order: 1, counted: 1 },
    visitor_touches: {
      at_ms: [1],
      ...Object.fromEntries(
        ['url', 'referrer', 'source', 'medium', 'campaign', 'term', 'content', 'utm_id'].map((name) => [name, ['']]),
      ),
      ...Object.fromEntries(['gclid', 'gbraid', 'wbraid', 'fbclid', 'msclkid', 'ttclid'].map((name) => [name, ['']])),
    },
    // Recent enough not to expire.
    web_events: { kind: 'page_view', hit_id: 'h', page_id: 'p', occurred_ms: Date.now() },
    segment_changes: { entered: 1, cause: 'live' },
  }

  /** Lists the tables, or views, that have these columns. */
  async function listWith(column: RegExp, what: 'tables' | 'views'): Promise<{ name: string; columns: string[] }[]> {
    const { public: shown, internal } = lab.clickhouse.databases
    const rows = await query<{ name: string; columns: string[] }>(
      lab,
      `select table as name, groupArray(c.name) as columns from system.columns c
        join system.tables t on t.database = c.database and t.name = c.table
        where c.database = {database: String} and t.engine ${what === 'tables' ? "like '%MergeTree'" : "= 'View'"}
        group by table order by table`,
      { database: what === 'tables' ? internal : shown },
    )
    return rows.filter(({ columns }) => columns.some((one) => column.test(one)))
  }

  /** Inserts a row into every table for this contact in this browser. */
  async function fill(business: string, contact: string): Promise<void> {
    for (const { name, columns } of await listWith(/^(contact|visitor)_id$/, 'tables')) {
      if (name === 'contact_redirects') continue
      const ids = { business_id: business, contact_id: contact, visitor_id: VISITOR, revision: 1 }
      const known = Object.entries(ids).filter(([column]) => columns.includes(column))
      const row = JSON.stringify({ ...Object.fromEntries(known), ...SEEDS[name] })
      await lab.clickhouse.insert({ table: name, values: [JSON.parse(row)], format: 'JSONEachRow' })
    }
  }

  it('every view with a contact shows the survivor in place of a merged one', async () => {
    const [business, loser, survivor] = [randomUUID(), randomUUID(), randomUUID()]
    await fill(business, loser)
    await lab.clickhouse.insert({
      table: 'contact_snapshots',
      values: [
        { business_id: business, contact_id: loser, revision: 2, merged_into: survivor },
        { business_id: business, contact_id: survivor, revision: 1 },
      ],
      format: 'JSONEachRow',
    })
    const views = await listWith(/^contact_id$/, 'views')
    expect(views.length).toBeGreaterThan(7)
    const { public: shown } = lab.clickhouse.databases
    for (const { name } of views) {
      const rows = await query(lab, `select distinct contact_id from ${shown}.${name} where business_id = {b: UUID}`, {
        b: business,
      })
      expect([name, rows]).toEqual([name, [{ contact_id: survivor }]])
    }
  })

  it('every table is rid of an erased contact and its browser', async () => {
    const [business, contact] = [randomUUID(), randomUUID()]
    await fill(business, contact)
    const tables = await listWith(/^(contact|visitor)_id$/, 'tables')
    const held = async (name: string, where: string) => {
      const condition = `business_id = {b: UUID} ${where}`
      const [row] = await query<{ n: number }>(lab, `select count() as n from ${name} where ${condition}`, {
        b: business,
      })
      return [name, (row?.n ?? 0) > 0]
    }
    for (const { name } of tables) if (name !== 'contact_redirects') expect(await held(name, '')).toEqual([name, true])

    await lab.sql`
      insert into erasures (business_id, contact_id, erased_as, visitor_ids, visitor_revision)
      values (${business}, ${contact}, ${contact}, ${`{${VISITOR}}`}::text[], 3)`
    await lab.sql`
      insert into erased_visits (business_id, visitor_id, from_at, to_at) values (${business}, ${VISITOR}, 0, ${Date.now()})`
    expect(await eraseAll(lab)).toBe(1)
    expect(await finishWebErasures(lab)).toBe(1)
    for (const { name, columns } of tables) {
      // The views show the changes of erased contacts without a contact, so that the figures add up (segments,
      // "Membership").
      if (name === 'segment_changes') continue
      // The row that marks the contact or the browser as erased stays.
      const where = columns.includes('erased') ? 'and erased = 0' : ''
      expect(await held(name, where)).toEqual([name, false])
    }
  })
})
