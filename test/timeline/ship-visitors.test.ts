// @long
/** Visitors in ClickHouse: they match Postgres, whatever the order of arrival, and are deleted with the person. */
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { forgetVisitors } from '../../src/erasure/forget-visitors.ts'
import { insertStates } from '../../src/stores/insert-states.ts'
import { shipOutbox } from '../../src/timeline/shipping/ship-outbox.ts'
import { NOW, type Pipeline, browser, browserFact, identify, identifyFact, openPipeline } from '../support/facts.ts'
import { fillVisitor } from '../support/fill-visitor.ts'
import { createBusiness } from '../support/stack.ts'
import { eraseAll, openLab } from './lab.ts'
import { useOpened } from '../support/use-opened.ts'

/** A server may choose any name for its visitors. */
const ODD = `it's "odd" \\ {id:UUID} ?`
const V = 'c'.repeat(32)
const TOUCH = {
  at: NOW - 9,
  url: 'https://shop.example/?gclid=g',
  referrer: 'https://news.example/',
  utm: { source: 'news', id: 'spring-1' },
  clickIds: { gclid: 'g' },
}
const lab = useOpened(openLab)
let pipeline: Pipeline
let businessId: string
beforeAll(async () => {
  pipeline = await openPipeline(lab.sql)
})
beforeEach(async () => {
  ;({ businessId } = await createBusiness(lab.sql))
})

async function ship(): Promise<void> {
  while (await shipOutbox(lab, lab.lease));
}
async function read(
  table: 'visitors' | 'visitor_links' | 'visitor_touches',
  final = true,
): Promise<Record<string, unknown>[]> {
  const query = `select * from ${table} ${final ? 'final' : ''} where business_id = '${businessId}' order by all
    settings output_format_json_quote_64bit_integers = 0`
  return await (await lab.clickhouse.query({ query, format: 'JSONEachRow' })).json()
}
const isAnn = (visitorId: string, receivedAt = NOW) => ({
  ...identify(businessId, identifyFact({ email: 'ann@x.io' }, { visitorId })),
  receivedAt,
})
const isBob = (visitorId: string, receivedAt = NOW) => ({
  ...identify(businessId, identifyFact({ email: 'bob@x.io' }, { visitorId })),
  receivedAt,
})

it('are shipped with their touches, and with whom they belong to from when on', async () => {
  await pipeline.browser(browser(businessId, browserFact('e', V, { occurredAt: NOW - 5, first: TOUCH })))
  await ship()
  expect(await read('visitors')).toMatchObject([
    {
      visitor_id: V,
      erased: 0,
      first_seen_ms: NOW - 5,
      last_seen_ms: NOW - 5,
      first_at_ms: NOW - 9,
      first_url: TOUCH.url,
      first_referrer: TOUCH.referrer,
      first_source: 'news',
      first_medium: '',
      first_utm_id: 'spring-1',
      first_gclid: 'g',
      latest_at_ms: NOW - 9,
      latest_gclid: 'g',
    },
  ])
  expect(await read('visitor_links')).toEqual([])
  const ann = await pipeline.identify(isAnn(V))
  const bob = await pipeline.identify(isBob(V, NOW + 7))
  await pipeline.identify(isAnn(ODD))
  await ship()
  expect(await read('visitor_links')).toMatchObject([
    { visitor_id: V, from_ms: 0, contact_id: ann.contactId },
    { visitor_id: V, from_ms: NOW + 7, contact_id: bob.contactId },
    { visitor_id: ODD, from_ms: 0, contact_id: ann.contactId },
  ])
  expect((await read('visitors')).map(({ visitor_id, last_seen_ms }) => [visitor_id, last_seen_ms])).toEqual([
    [V, NOW - 5],
    [ODD, null],
  ])
})

it('are shipped with their newest link only, however many they have, and as anonymous once they have too many', async () => {
  await fillVisitor(lab.sql, businessId, V, 999)
  const ann = await pipeline.identify(isAnn(V))
  await pipeline.browser(browser(businessId, browserFact('e', V, { first: TOUCH })))
  await ship()
  const links = async () => (await read('visitor_links', false)).map(({ from_ms, contact_id }) => [from_ms, contact_id])
  expect(await links()).toEqual([[NOW, ann.contactId]])
  const [first] = await read('visitor_links')
  await pipeline.identify(isBob(V, NOW + 7))
  await ship()
  expect(await read('visitor_links')).toMatchObject([
    { ...first },
    { from_ms: NOW + 7, contact_id: '00000000-0000-0000-0000-000000000000', erased: 1 },
  ])
})

it('are deleted with the person, and late rows bring nothing back; a later visit is a stranger’s', async () => {
  await pipeline.browser(browser(businessId, browserFact('e', V, { first: TOUCH, latest: TOUCH })))
  const { contactId } = await pipeline.identify(isAnn(V))
  await pipeline.identify(isAnn(ODD))
  await ship()
  const late = (await read('visitors')).map((row) => JSON.stringify(row))
  await pipeline.apply({ kind: 'erase', businessId, receivedAt: NOW, contactId })
  await ship()
  await eraseAll(lab)
  expect(await read('visitor_links', false)).toEqual([])
  const alive = async (final = true) => (await read('visitors', final)).filter(({ erased }) => erased === 0)
  expect(await alive(false)).toEqual([])
  await insertStates(lab.clickhouse, 'visitors', late)
  expect(await alive()).toEqual([])
  const now = Date.now() + 1000
  await pipeline.browser(browser(businessId, browserFact('e', V, { occurredAt: now })))
  await ship()
  expect(await alive()).toMatchObject([{ visitor_id: V, first_url: '', last_seen_ms: now }])
})

it('are deleted with the person however many they are', async () => {
  const { contactId } = await pipeline.identify(isAnn(V))
  await lab.sql`
    insert into contact_visitors (business_id, contact_id, visitor_id, linked_at)
    select ${businessId}, ${contactId}, 'many-' || n || repeat('x', 90), ${NOW} from generate_series(1, 4000) n`
  await lab.sql`
    insert into visitors (business_id, visitor_id, contact_id, current_contact_id, linked_at)
    select business_id, visitor_id, contact_id, contact_id, linked_at from contact_visitors
    where business_id = ${businessId} and visitor_id like 'many-%'`
  await lab.sql`
    insert into visitor_links (business_id, visitor_id, from_at, contact_id)
    select business_id, visitor_id, 0, contact_id from contact_visitors
    where business_id = ${businessId} and visitor_id like 'many-%'`
  await pipeline.apply({ kind: 'erase', businessId, receivedAt: NOW, contactId })
  await ship()
  await eraseAll(lab)
  expect(await lab.sql`select from erasures where business_id = ${businessId} and deleted_at is null`).toEqual([])
  expect((await read('visitors')).filter(({ erased }) => erased === 0)).toEqual([])
})

it('that belong to another person too stay, without what is known from the erased one', async () => {
  await pipeline.browser(browser(businessId, browserFact('e', V, { first: TOUCH, latest: TOUCH })))
  const ann = await pipeline.identify(isAnn(V))
  const bob = await pipeline.identify(isBob(V, NOW + 7))
  await ship()
  await pipeline.apply({ kind: 'erase', businessId, receivedAt: NOW, contactId: ann.contactId })
  await ship()
  await eraseAll(lab)
  expect(await read('visitors')).toMatchObject([{ visitor_id: V, erased: 0, first_url: '', latest_url: '' }])
  const tombstone = { erased: 1, contact_id: '00000000-0000-0000-0000-000000000000' }
  expect(await read('visitor_links')).toMatchObject([
    { from_ms: 0, ...tombstone },
    { from_ms: NOW + 7, contact_id: bob.contactId, erased: 0 },
  ])
  await pipeline.apply({ kind: 'erase', businessId, receivedAt: NOW, contactId: bob.contactId })
  await ship()
  await eraseAll(lab)
  expect(await read('visitor_links', false)).toEqual([])
})

it('an earlier person never gets what the erased one did, or what comes later', async () => {
  const ann = await pipeline.identify(isAnn(V))
  const bob = await pipeline.identify(isBob(V, NOW + 7))
  await pipeline.browser(browser(businessId, browserFact('e', V, { first: { ...TOUCH, at: NOW + 8 } })))
  await ship()
  const late = (await read('visitor_links')).map((row) => JSON.stringify(row))
  const owners = async () => {
    const query = `select visitor_id, contact_id from touches where business_id = '${businessId}' order by at_ms`
    const rows = await (await lab.clickhouse.query({ query, format: 'JSONEachRow' })).json<{ contact_id: string }>()
    return rows.map(({ contact_id }) => contact_id)
  }
  expect(await owners()).toEqual([bob.contactId])
  await pipeline.apply({ kind: 'erase', businessId, receivedAt: NOW, contactId: bob.contactId })
  // Before the outbox is shipped.
  await eraseAll(lab)
  expect(await owners()).toEqual([])
  const now = Date.now() + 1000
  const since = { ...TOUCH, at: now }
  await pipeline.browser(browser(businessId, browserFact('e', V, { occurredAt: now, first: since, latest: since })))
  await ship()
  await insertStates(lab.clickhouse, 'visitor_links', late)
  expect(await owners()).toEqual([null])
  expect((await read('visitor_links')).map(({ erased, contact_id }) => [erased, contact_id === ann.contactId])).toEqual(
    [
      [0, true],
      [1, false],
    ],
  )
})

it('that are not identified are deleted once they stay away; others are not', async () => {
  const other = 'd'.repeat(32)
  const came = { occurredAt: NOW - 10, latest: { ...TOUCH, at: NOW - 20 } }
  await pipeline.browser(browser(businessId, browserFact('e', V, came), NOW - 10))
  await pipeline.browser(browser(businessId, browserFact('e', other, came), NOW - 10))
  await pipeline.identify(isAnn(other))
  const left = async () => [
    (await lab.sql`select 1 from visitors where business_id = ${businessId}`).length,
    (await lab.sql`select 1 from visitor_events where business_id = ${businessId}`).length,
  ]
  await ship()
  const shown = async () => (await read('visitors')).filter(({ erased }) => erased === 0).length
  await forgetVisitors(lab.sql, NOW - 10)
  await ship()
  expect([...(await left()), await shown()]).toEqual([2, 1, 2])
  await forgetVisitors(lab.sql, NOW - 9)
  await ship()
  expect([...(await left()), await shown()]).toEqual([1, 0, 1])
  const touched = (await read('visitor_touches')).filter(({ erased }) => erased === 0)
  expect(touched.map(({ visitor_id }) => visitor_id)).toEqual([other])
  await pipeline.browser(browser(businessId, browserFact('e', V, { occurredAt: NOW }), NOW))
  await ship()
  expect(await shown()).toBe(2)
})

it('that come back while they are being deleted stay or are created again, with their touches', async () => {
  const ids = ['0', '1'].map((digit) => digit.repeat(32))
  const see = (occurredAt: number, ...visitors: string[]) =>
    pipeline.apply(
      ...visitors.map((id) => browser(businessId, browserFact('e', id, { occurredAt, latest: TOUCH }), occurredAt)),
    )
  const touched = async () =>
    (await read('visitor_touches')).filter(({ erased }) => erased === 0).map(({ visitor_id }) => visitor_id)
  await see(NOW - 100, ...ids)
  await ship()
  expect(await touched()).toEqual(ids)
  await lab.sql.begin(async (tx) => {
    const seen = JSON.stringify([{ business_id: businessId, visitor_id: ids[0], seen_at: NOW }])
    await tx`select see_visitors(${seen}::text::json)`
    await forgetVisitors(lab.sql, NOW - 99)
  })
  await see(NOW, ids[1]!)
  await ship()
  expect(await touched()).toEqual(ids)
  expect((await read('visitors')).map(({ last_seen_ms }) => last_seen_ms)).toEqual([NOW, NOW])
})

it.each([
  [1999, ['done']],
  [2000, ['more', 'done']],
  [2001, ['more', 'done']],
])('are deleted in steps: %i of them', async (many, steps) => {
  await lab.sql`
    insert into visitors (business_id, visitor_id, first_seen_at, last_seen_at)
    select ${businessId}, 'v' || n, 1, 1 from generate_series(1, ${many}::int) n`
  const left = async () => (await lab.sql`select 1 from visitors where business_id = ${businessId}`).length
  for (const [n, answer] of steps.entries()) {
    expect(await forgetVisitors(lab.sql, 2)).toBe(answer)
    expect(await left()).toBe(Math.max(0, many - 2000 * (n + 1)))
  }
  await ship()
  expect((await read('visitors')).filter(({ erased }) => erased === 1)).toHaveLength(many)
})

it('lose what they did in steps', async () => {
  await lab.sql`
    insert into visitor_events (business_id, visitor_id, event_id, event, occurred_at, received_at, line)
    select ${businessId}, ${V}, gen_random_uuid(), 'e', 1, 1, '{}' from generate_series(1, 2001)`
  expect(await forgetVisitors(lab.sql, 2)).toBe('more')
  expect(await lab.sql`select 1 from visitor_events where business_id = ${businessId}`).toHaveLength(1)
  expect(await forgetVisitors(lab.sql, 2)).toBe('done')
})
