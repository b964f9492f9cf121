/** Runs the documentation for analysts exactly as written. */
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { uuidv7 } from 'uuidv7'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Cause, SegmentChangeRow } from '../../src/outbox/segment-change-row.ts'
import { type ClickHouseClient, connectClickHouse } from '../../src/stores/clickhouse.ts'
import { sendSegmentChanges } from '../../src/timeline/shipping/send-segment-changes.ts'
import { sendSegmentDefinitions } from '../../src/timeline/shipping/send-segment-definitions.ts'
import {
  type EventSeed,
  type Lab,
  addContact,
  erase,
  eraseAll,
  merge,
  newBusiness,
  openLab,
  query,
  save,
  shipAll,
} from './lab.ts'
import { captureOf, hitOf, link, newVisitor, openWebWorker } from '../web-events/web-lab.ts'

const page = await readFile(new URL('../../docs/analytics.md', import.meta.url), 'utf8')
const sections = page.split(/^#{2,3} /m).map((text) => ({ title: text.slice(0, text.indexOf('\n')), text }))
const examples = sections.flatMap(({ title, text }) => {
  const sql = /```sql\n([\s\S]*?)```/.exec(text)?.[1]
  return sql === undefined ? [] : [[title, sql] as const]
})

const DAY = 86_400_000
/** Midnight, UTC. */
const TODAY = Math.floor(Date.now() / DAY) * DAY
const daysAgo = (days: number): number => TODAY - days * DAY
const dayOf = (ago: number): string => new Date(daysAgo(ago)).toISOString().slice(0, 10)

const ANSWERS: Record<string, unknown[]> = {
  'Did it within the last 30 days': [{ contacts: 2 }],
  'Last did it more than 30 days ago': [{ contacts: 2 }],
  'Never did it': [{ contacts: 1 }],
  'At least 3 times': [{ contacts: 1 }],
  'At least once, but fewer than 3 times': [{ contacts: 3 }],
  'Fewer than 3 times, or never': [{ contacts: 4 }],
  'By tag, custom field and event together': [{ first_name: 'Ann' }],
  'Customers to write to': [
    { name: 'Bob', email: 'bob@x.io', phone: '' },
    { name: 'Ann', email: 'ann@work.io', phone: '+972500000001' },
  ],
  'Members by segment': [
    { segment: 'Customers', members: 2 },
    { segment: 'New', members: 0 },
  ],
  'Members with their email': [
    { name: 'Ann', email: 'ann@work.io', cause: 'merge' },
    { name: 'Bob', email: 'bob@x.io', cause: 'bulk' },
  ],
  'Members at an instant': [{ members: 3 }],
  'Entries and exits by cause': [
    { change: 'entered', cause: 'bulk', changes: 1 },
    { change: 'entered', cause: 'live', changes: 2 },
    { change: 'entered', cause: 'merge', changes: 1 },
    { change: 'left', cause: 'erasure', changes: 1 },
    { change: 'left', cause: 'merge', changes: 1 },
  ],
  'Members by day': [
    ...[6, 5, 4].map((ago) => ({ day: dayOf(ago), entries: 0, exits: 0, members: 2 })),
    { day: dayOf(3), entries: 2, exits: 1, members: 3 },
    ...[2, 1].map((ago) => ({ day: dayOf(ago), entries: 0, exits: 0, members: 3 })),
    { day: dayOf(0), entries: 0, exits: 1, members: 2 },
  ],
  'Active contacts by day': [20, 10, 1].map((ago) => ({ day: dayOf(ago), contacts: 1 })),
  'Contacts by engagement': [{ reach: 'near', contacts: 2 }],
  'Contacts by stage': [
    { stage: 'Awareness', contacts: 3 },
    { stage: 'Decision', contacts: 2 },
  ],
  'Signups by source': [
    { source: 'ad', signups: 2 },
    { source: '', signups: 1 },
    { source: 'friend', signups: 1 },
  ],
  'Signups that became buyers within 30 days': [{ signups: 4, buyers: 2 }],
  'Retention by month of signup': [
    { signed_up: '2024-01-01', months_later: 0, active: 2 },
    { signed_up: '2024-01-01', months_later: 1, active: 1 },
    { signed_up: '2024-01-01', months_later: 2, active: 1 },
    { signed_up: '2024-02-01', months_later: 0, active: 2 },
  ],
  'Retention by week of signup': [
    { cohort: '2024-01-01', week: 2, people: 2, share: 0.5 },
    { cohort: '2024-01-01', week: 10, people: 2, share: 0.5 },
    { cohort: '2024-01-29', week: 0, people: 2, share: 0.5 },
  ],
  'Funnel from signup to renewal': [
    { step: 1, event: 'signup', people: 4 },
    { step: 2, event: 'purchase', people: 3 },
    { step: 3, event: 'subscription_renewed', people: 1 },
  ],
  'Buyers by the campaign that first brought them': [
    { campaign: 'spring', buyers: 2 },
    { campaign: 'autumn', buyers: 1 },
  ],
  'Revenue by currency': [
    { currency: 'ILS', total: 30, number_of_orders: 1 },
    { currency: 'USD', total: 139, number_of_orders: 3 },
  ],
  'Revenue by month': [
    { month: '2024-01-01', total: 100 },
    { month: '2024-02-01', total: 30 },
    { month: '2024-03-01', total: 9 },
  ],
  'Average order': [
    { currency: 'ILS', average_order: 30 },
    { currency: 'USD', average_order: 53 },
  ],
  'First-time buyers by month': [
    { month: '2023-12-01', buyers: 1 },
    { month: '2024-02-01', buyers: 1 },
    { month: '2024-03-01', buyers: 1 },
  ],
  'Best customers': [
    { first_name: 'Ann', spent: 130, order_count: 3 },
    { first_name: 'Bob', spent: 9, order_count: 1 },
  ],
  'Revenue by last channel': [{ channel: 'campaign', total: 139, number_of_orders: 3 }],
  'Days from the first touch to the first order': [{ channel: 'campaign', buyers: 3, days: 44 }],
  'Most viewed pages': [
    { path: '/pricing', views: 2, visitors: 2, seconds: 40 },
    { path: '/', views: 1, visitors: 1, seconds: 0 },
  ],
  'Sessions by campaign': [{ utm_source: 'news', utm_campaign: 'spring', sessions: 1, pages: 2 }],
  'Pages viewed in the week before an order': [
    { path: '/', buyers: 1 },
    { path: '/pricing', buyers: 1 },
  ],
}

const business = newBusiness()
let lab: Lab
/** Connects as an analyst does: the views are in the database that the URL names. */
let analyst: ClickHouseClient
beforeAll(async () => {
  lab = await openLab()
  analyst = connectClickHouse(lab.clickhouseUrl, { toPublic: true })
  await seed()
})
afterAll(async () => {
  await analyst?.close()
  await lab?.close()
})

/** Saves six people, of whom two are merged and one is erased. Another business does the same under the same names. */
async function seed(): Promise<void> {
  const fields = { plan: [1, '"standard"'] as [number, string] }
  const ann = await addContact(lab, business, {
    firstName: 'Ann',
    stage: 2,
    identities: [
      { kind: 'email', value: 'ann@home.io', isProven: false },
      { kind: 'email', value: 'ann@work.io' },
      { kind: 'phone', value: '972500000001', isRead: true },
    ],
    tags: ['customer'],
    traits: fields,
    orderCount: 3,
    revenue: { USD: '130', ILS: '30' },
  })
  const bob = await addContact(lab, business, {
    firstName: 'Bob',
    stage: 2,
    identities: [{ kind: 'email', value: 'bob@x.io' }],
    tags: ['customer'],
    traits: fields,
    orderCount: 1,
    revenue: { USD: '9' },
  })
  const cyd = await addContact(lab, business, {
    firstName: 'Cyd',
    tags: ['customer'],
    traits: { plan: [2, null] },
    orderCount: 1,
  })
  const dan = await addContact(lab, business, { firstName: 'Dan', traits: fields })
  const gus = await addContact(lab, business)
  const eve = await addContact(lab, business, { firstName: 'Eve' })
  const fay = await addContact(lab, business, {
    firstName: 'Fay',
    identities: [{ kind: 'email', value: 'fay@x.io' }],
    tags: ['customer'],
    traits: fields,
    revenue: { USD: '1000' },
  })

  const lesson = (contact_id: string, ago: number): EventSeed => ({
    contact_id,
    event: 'lesson_finished',
    occurred_ms: daysAgo(ago),
  })
  const on = (contact_id: string, date: string, event: string, more: Partial<EventSeed> = {}): EventSeed => ({
    contact_id,
    event,
    occurred_ms: Date.parse(date),
    ...more,
  })
  const paid = (amount: string, currency = 'USD'): Partial<EventSeed> => ({
    type: amount.startsWith('-') ? 'refund' : 'purchase',
    is_order: amount.startsWith('-') ? 0 : 1,
    value: Number(amount),
    counted: amount,
    currency,
  })
  await save(lab, business, [
    lesson(ann, 1),
    lesson(ann, 40),
    lesson(eve, 50),
    lesson(bob, 60),
    lesson(cyd, 10),
    lesson(cyd, 20),
    ...Array.from({ length: 5 }, () => lesson(fay, 1)),
    on(gus, '1850-05-01', 'lesson_finished'),
    on(ann, '2024-01-05T10:00Z', 'signup', { properties: '{"source":"ad"}' }),
    on(bob, '2024-01-06T10:00Z', 'signup', { properties: '{"source":"friend"}' }),
    on(cyd, '2024-02-01T10:00Z', 'signup', { properties: '{"source":"ad"}' }),
    on(dan, '2024-02-01T23:59Z', 'signup'),
    on(fay, '2024-02-01T10:00Z', 'signup', { properties: '{"source":"ad"}' }),
    on(eve, '2023-12-24', 'purchase', paid('30', 'ILS')),
    on(ann, '2024-01-20', 'purchase', paid('100')),
    on(ann, '2024-02-10', 'subscription_renewed', paid('50')),
    on(ann, '2024-02-11', 'refund', paid('-20')),
    on(bob, '2024-03-15', 'purchase', paid('9')),
    on(cyd, '2024-02-02', 'purchase', { type: 'purchase', is_order: 1 }),
    on(fay, '2024-02-02', 'purchase', paid('1000')),
  ])
  await seeVisitor('1', [cyd], 'autumn')
  await seeVisitor('2', [eve, bob], 'spring')
  await seeVisitor('3', [ann], 'spring')
  await seeVisitor('4', [dan, fay], 'autumn')
  await seeVisitor('5', [], 'spring')
  for (const contact of [ann, bob])
    await lab.sql`insert into subscriptions (business_id, contact_id, channel, subscribed, method, recorded_at)
      values (${business}, ${contact}, 'email', true, 'form', 1)`
  await merge(lab, business, [eve], ann)
  await seedSegments({ ann, bob, eve, fay })
  const elsewhere = newBusiness()
  const zoe = await addContact(lab, elsewhere, {
    firstName: 'Zoe',
    stage: 4,
    tags: ['customer'],
    traits: fields,
    revenue: { USD: '5' },
  })
  await save(lab, elsewhere, [
    lesson(zoe, 1),
    on(zoe, '2024-02-05', 'signup'),
    on(zoe, '2024-02-06', 'purchase', paid('5')),
  ])
  await shipAll(lab)
  await browse(ann)
  await erase(lab, business, [fay])
  await eraseAll(lab)
}

/** Saves a segment that Eve was in until she was merged into Ann, and an empty segment. */
async function seedSegments({ ann, bob, eve, fay }: Record<'ann' | 'bob' | 'eve' | 'fay', string>): Promise<void> {
  const [customers, empty] = [randomUUID(), randomUUID()]
  await lab.sql`insert into segments (business_id, id, name, rule)
    values (${business}, ${customers}, 'Customers', '{"tag": "customer", "operator": "has"}'), (${business}, ${empty}, 'New', '{}')`
  await sendSegmentDefinitions(lab)
  const change = (contact_id: string, at_ms: number, entered: 0 | 1, cause: Cause) => ({
    business_id: business,
    segment_id: customers,
    contact_id,
    change_id: uuidv7(),
    at_ms,
    entered,
    cause,
  })
  const segmentChanges = [
    change(bob, daysAgo(60), 1, 'live'),
    change(bob, daysAgo(50), 0, 'time'),
    change(eve, daysAgo(20), 1, 'live'),
    change(fay, daysAgo(19), 1, 'live'),
    change(bob, daysAgo(3), 1, 'bulk'),
    change(eve, daysAgo(3) + 1, 0, 'merge'),
    change(ann, daysAgo(3) + 1, 1, 'merge'),
    change(fay, daysAgo(0), 0, 'erasure'),
  ].map((row: SegmentChangeRow) => JSON.stringify(row))
  await sendSegmentChanges(lab.clickhouse, { id: randomUUID(), segmentChanges, isResent: false })
}

/** Saves the hits of a browser that comes through a campaign and belongs to the contact, and of an anonymous one. */
async function browse(contact_id: string): Promise<void> {
  const [known, unknown, another] = [newVisitor(), newVisitor(), newVisitor()]
  const lately = daysAgo(2)
  const from = Date.parse('2024-02-08T10:00Z')
  const shop = 'https://shop.example'
  const hits = [
    hitOf({ url: `${shop}/?utm_source=news&utm_campaign=spring`, pageId: 'p1', occurredAt: from }),
    hitOf({ url: `${shop}/pricing`, pageId: 'p2', occurredAt: from + 60_000 }),
    hitOf({ url: `${shop}/pricing`, pageId: 'p2', kind: 'time', activeMs: 40_000, occurredAt: from + 100_000 }),
  ]
  const worker = await openWebWorker(lab)
  await worker.apply(
    captureOf(business, known, hits),
    captureOf(business, unknown, [
      hitOf({ url: `${shop}/pricing`, occurredAt: from }),
      hitOf({ url: `${shop}/`, pageId: 'p3', occurredAt: lately }),
      hitOf({ url: `${shop}/pricing`, pageId: 'p4', occurredAt: lately + 1 }),
      hitOf({ url: `${shop}/pricing`, pageId: 'p4', kind: 'time', activeMs: 40_000, occurredAt: lately + 60_000 }),
    ]),
    captureOf(business, another, [hitOf({ url: `${shop}/pricing`, occurredAt: lately })]),
  )
  await link(lab.clickhouse, [{ business_id: business, visitor_id: known, from_ms: 0, contact_id }])
}

/** Saves a browser that a campaign brought, and its owners one after the other. */
async function seeVisitor(visitor_id: string, contacts: string[], campaign: string): Promise<void> {
  const first_touch = { at: Date.parse('2023-12-20'), url: 'https://shop.example/', utm: { campaign } }
  const links = contacts.map((contact_id, n) => ({ business_id: business, visitor_id, from_at: n, contact_id }))
  const of = {
    business_id: business,
    visitor_id,
    contact_id: contacts[0],
    linked_at: 0,
    joined_count: 0,
    crowded: false,
    waits: false,
  }
  const linked = contacts.slice(-1).map((current_contact_id) => ({ ...of, current_contact_id }))
  await lab.sql`select see_visitors(${JSON.stringify([{ business_id: business, visitor_id, seen_at: 1, first_touch }])}::text::json)`
  if (links.length > 0)
    await lab.sql`select link_visitors(${JSON.stringify(linked)}::text::json, ${JSON.stringify(links)}::text::json)`
}

test('every example has an answer here', () => {
  expect(examples.map(([title]) => title)).toEqual(Object.keys(ANSWERS))
})

test.each(examples)('%s', async (title, sql) => {
  const result = await analyst.query({
    query: sql,
    query_params: { business },
    format: 'JSONEachRow',
    clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
  })
  expect(await result.json()).toEqual(ANSWERS[title])
})

const VIEWS = [
  'contacts',
  'contact_event_statistics',
  'timeline',
  'revenue_by_day',
  'attributed_purchases',
  'attribution_by_day',
  'contact_engagement',
  'touches',
  'web_page_views',
  'web_sessions',
  'web_hits',
  'segments',
  'segment_members',
  'segment_changes',
  'segment_counts_by_day',
  'event_retention',
  'event_funnel',
]
/** ClickHouse does not list the columns of views with parameters. */
const CALLS: Record<string, string> = {
  event_retention: "event_retention(business_id = {view: UUID}, first_event = '', return_event = '')",
  event_funnel: "event_funnel(business_id = {view: UUID}, events = ['a'], window_seconds = 1)",
}

test.each(VIEWS)('the columns of %s are those described', async (view) => {
  const section = sections.find(({ title }) => title === view)
  const described = [...(section?.text ?? '').matchAll(/^\| `(\w+)` \| `(.+?)` \|/gm)].map(([, name, type]) => ({
    name,
    type,
  }))
  const call = CALLS[view]
  const columns = call
    ? await query({ clickhouse: analyst }, `describe (select * from ${call})`, { view: business })
    : await query(
        { clickhouse: analyst },
        'select name, type from system.columns where database = currentDatabase() and table = {view: String} order by position',
        { view },
      )
  expect(columns).toMatchObject(described)
})

test('the public database holds the views that are described here, and nothing else', async () => {
  const found = await query<{ name: string; engine: string }>(
    { clickhouse: analyst },
    'select name, engine from system.tables where database = currentDatabase() order by name',
  )
  expect(found).toEqual(VIEWS.toSorted().map((name) => ({ name, engine: 'View' })))
  const listed = [...page.matchAll(/^\| \[`(\w+)`\]\(#\1\) \|/gm)].map(([, name = '']) => name)
  expect(listed.toSorted()).toEqual(VIEWS.toSorted())
})

test('every public view, every internal table and every column of them says what it is', async () => {
  const { public: shown, internal } = lab.clickhouse.databases
  const tables = await query<{ name: string }>(
    lab,
    `select concat(database, '.', name) as name, comment from system.tables
      where database = {shown: String} or (database = {internal: String} and engine != 'View')`,
    { shown, internal },
  )
  expect(tables).toHaveLength(VIEWS.length + 15)
  expect(tables.filter((table) => !('comment' in table) || table.comment === '')).toEqual([])
  const columns = await query<{ name: string; comment: string }>(
    lab,
    `select concat(database, '.', table, '.', name) as name, comment from system.columns
      where (database = {shown: String} or database = {internal: String})
        and (database, table) in (select database, name from system.tables where database = {shown: String} or engine not like '%View')`,
    { shown, internal },
  )
  expect(columns.length).toBeGreaterThan(200)
  expect(columns.filter(({ comment }) => comment === '')).toEqual([])
})
