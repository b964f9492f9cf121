/**
 * The plans of load_state and save_changes are generic. They may be made while the tables are empty, when all indexes
 * look alike. One session makes its plans on an empty database, and then serves a business with many contacts.
 */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createContactCaches } from '../../src/contacts/load/contact-cache.ts'
import { type Sql, connectPostgres } from '../../src/stores/postgres.ts'
import {
  type Pipeline,
  browser,
  browserFact,
  eventFact,
  identify,
  identifyFact,
  openPipeline,
  track,
} from '../support/facts.ts'
import { insertSegment } from '../segments/segments-support.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'

let stack: Stack
let sql: Sql
let other: Sql
let pipeline: Pipeline
let businessId: string
beforeEach(async () => {
  stack = await openStack()
  // Autovacuum collects statistics, which would cause new plans.
  const tables = await stack.sql<
    { name: string }[]
  >`select tablename as name from pg_tables where schemaname = 'public'`
  for (const { name } of tables) await stack.sql`alter table ${stack.sql(name)} set (autovacuum_enabled = false)`
  // One connection: plans belong to a session.
  sql = connectPostgres(stack.databaseUrl, { max: 1 })
  other = connectPostgres(stack.databaseUrl, { max: 1 })
  ;({ businessId } = await createBusiness(other))
})
afterEach(async () => {
  await Promise.all([sql.end({ timeout: 1 }), other.end({ timeout: 1 })])
  await stack.close()
})

const CONTACTS = 500

const visitorOf = (n: number): string => n.toString(16).padStart(32, '0')

/** Does the work of the hot path for one contact, which `n` names. The contact is not in the worker's cache. */
async function live(n: number): Promise<void> {
  const email = `p${n}@x.io`
  const steps = [
    track(businessId, eventFact('viewed', { email }, { idempotencyKey: `k${n}`, tags: ['a'], traits: { city: 'x' } })),
    browser(businessId, browserFact('viewed', visitorOf(n), { messageId: `m${n}` })),
    identify(businessId, identifyFact({ email }, { visitorId: visitorOf(n), profile: { firstName: 'Ann' } })),
    browser(businessId, browserFact('viewed', visitorOf(n), { messageId: `n${n}` })),
    track(businessId, eventFact('purchase', { email }, { value: 5, visitorId: visitorOf(n), idempotencyKey: `l${n}` })),
    track(businessId, eventFact('viewed', { platformCustomerId: `c${n}` })),
    // The two contacts are one person.
    track(businessId, eventFact('viewed', { email, platformCustomerId: `c${n}` }, { idempotencyKey: `k${n}2` })),
    track(businessId, eventFact('viewed', { email }, { idempotencyKey: `k${n}` })),
    track(businessId, eventFact('unsubscribed', { email })),
  ]
  for (const step of steps) {
    pipeline.deps.contactsOf = createContactCaches()
    await pipeline.apply(step)
  }
}

interface Use {
  name: string
  scans: number
  rows: number
}

/** Reads the use of indexes, and of tables that were scanned. */
async function readUse(): Promise<Use[]> {
  // Other sessions see the counts of a session at the end of its transaction, or seconds later.
  for (const session of [sql, other]) await session`select pg_stat_force_next_flush()`
  return await stack.sql<Use[]>`
    select indexrelname as name, idx_scan as scans, idx_tup_read as rows from pg_stat_user_indexes
    union all
    select 'all of ' || relname, seq_scan, seq_tup_read from pg_stat_user_tables
    order by 1`
}

async function usedBy(work: () => Promise<void>): Promise<Use[]> {
  const before = new Map((await readUse()).map((use) => [use.name, use]))
  await work()
  return (await readUse()).flatMap(({ name, scans, rows }) => {
    const use = { name, scans: scans - (before.get(name)?.scans ?? 0), rows: rows - (before.get(name)?.rows ?? 0) }
    return use.scans > 0 ? [use] : []
  })
}

/** Adds other contacts to the same business, without using a plan of the pipeline's session. */
async function fill(): Promise<void> {
  await other`
    with made as (
      insert into contacts (business_id, id, created_at, keyed)
      select ${businessId}, gen_random_uuid(), n, true from generate_series(1, ${CONTACTS}::integer) n
      returning id, created_at as n
    ), identified as (
      insert into identities (business_id, kind, value, contact_id, proven, phone_read)
      select ${businessId}, 'email', 'f' || n || '@x.io', id, true, false from made
    ), counted as (
      insert into event_statistics (business_id, contact_id, event, first_at, last_at, count)
      select ${businessId}, id, 'viewed', n, n, 1 from made
    )
    insert into idempotency_keys (business_id, key_hash, contact_id, occurred_at)
    select ${businessId}, gen_random_uuid(), id, n from made`
}

/**
 * The indexes that live events need: for a contact, an identity, a key, a browser by its key, and the rows of one
 * contact or browser.
 */
const INTENDED = new Set([
  'businesses_pkey',
  'chain_refusals_pkey',
  'confirmations_pkey',
  'consent_history_pkey',
  'contact_visitors_listed',
  'contact_visitors_pkey',
  'contacts_by_survivor',
  'contacts_pkey',
  'deliveries_by_contact',
  'due_steps_by_contact',
  'enrolments_pkey',
  'erased_visits_pkey',
  'erasures_pkey',
  'event_statistics_pkey',
  'goal_times_pkey',
  'idempotency_keys_pkey',
  'identifications_pkey',
  'identities_by_contact',
  'identities_pkey',
  'keyed_enrolments_pkey',
  'logged_messages_by_contact',
  'messages_by_contact',
  'positions_pkey',
  'push_subscriptions_by_visitor',
  'removed_tags_pkey',
  'revenue_pkey',
  'segment_clock_pkey',
  'segment_members_pkey',
  'segment_rules_pkey',
  'segment_rules_switched',
  'segment_window_refreshes_pkey',
  'segment_windows_pkey',
  'subscriptions_pkey',
  'visitor_events_pkey',
  'visitor_links_by_contact',
  'visitor_links_pkey',
  'visitor_links_waiting',
  'visitors_by_contact',
  'visitors_by_current_contact',
  'visitors_pkey',
])
/** A contact in these calls has a few identities, browsers and events. */
const ROWS_PER_SCAN = 5

/** Makes plans on empty tables, and uses them on a full business. Returns the unsuitable reads. */
async function findUnsuitable(): Promise<Use[]> {
  // A contact enters with its first event, and leaves with the second.
  for (const metric of ['count', 'last'] as const)
    await insertSegment(other, businessId, {
      all: [
        { event: 'viewed', metric: 'count', operator: 'equals', value: 1 },
        metric === 'count'
          ? { tag: 'a', operator: 'has' }
          : { event: 'viewed', metric, operator: 'within_days', value: 9 },
      ],
    })
  pipeline = await openPipeline(sql)
  await live(0)
  await fill()
  const used = await usedBy(async () => {
    await live(1)
    await live(2)
  })
  expect(used.find(({ name }) => name === 'contacts_pkey')?.scans).toBeGreaterThan(20)
  return used.filter(({ name, scans, rows }) => !INTENDED.has(name) || rows > scans * ROWS_PER_SCAN)
}

it('plans made on an empty database read the intended indexes alone, and no table from end to end', async () => {
  expect(await findUnsuitable()).toEqual([])
})

it('an index that such plans take for any look-up of a contact is found', async () => {
  await other`drop index contacts_by_age`
  await other`create index contacts_by_age on contacts (business_id, created_at, id) where merged_into is null`
  expect(await findUnsuitable()).toMatchObject([{ name: 'contacts_by_age' }])
})

it('what a switch has changed is written to the history without reading all that wait for each contact', async () => {
  const { no } = await insertSegment(other, businessId, { tag: 'a', operator: 'has' })
  const switchAt = (replaces: number) => other`
    update segment_rules set switched_at = 1, replaces = ${replaces} where business_id = ${businessId} and no = ${no}`
  const former = no + 1_000_000
  await switchAt(former)
  // Plans made while nobody is a member.
  await stack.sql`analyze segment_members`
  await sql`select log_switch(${businessId}, ${no}, array[gen_random_uuid()])`
  await fill()
  await other`
    insert into segment_members (business_id, contact_id, segment_no, since, cause, logged)
    select business_id, id, no, 0, 'rule', no = ${former} from contacts cross join (values (${no}::bigint), (${former}::bigint)) as r (no)
    where business_id = ${businessId} and (no = ${no} or created_at % 2 = 0)`
  const used = await usedBy(async () => {
    for (let isBusy = true; isBusy;) {
      const [row] = await sql<[{ done: number }]>`select log_switch_step(${businessId}, ${no}, 100) as done`
      isBusy = row.done > 0
    }
  })
  expect(await other`select from segment_members where not logged or segment_no = ${former}`).toHaveLength(0)
  const [{ lines }] = await other<[{ lines: string }]>`
    select string_agg(segment_changes, e'\n') as lines from outbox where segment_changes is not null`
  expect(lines.split('\n')).toHaveLength(CONTACTS / 2)
  const read = used.filter(({ name }) => name.startsWith('segment_members')).reduce((sum, { rows }) => sum + rows, 0)
  expect(read).toBeGreaterThan(CONTACTS)
  expect(read).toBeLessThan(10 * CONTACTS)
})
