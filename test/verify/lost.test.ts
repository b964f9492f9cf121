// @long
/** A ClickHouse that lost tables, came back from a backup, or lost data that is no longer in the outbox. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { listClickHouse } from '../../src/migrate/migrate.ts'
import { eventFact, identify, identifyFact, NOW, track } from '../support/facts.ts'
import { captureOf, hitOf } from '../web-events/web-lab.ts'
import { makePeople, openVerifyLab, type People, type VerifyLab } from './verify-lab.ts'

// Several runs of `verify` per test. Each takes some hundred milliseconds on an idle machine.
let lab: VerifyLab
let people: People
beforeAll(async () => {
  lab = await openVerifyLab()
})
afterAll(() => lab?.close())
// New people for each test, and only they are compared: the damage of other tests remains.
beforeEach(async () => {
  people = await makePeople(lab)
  await lab.shipped()
})

const verifyTheirs = (...words: string[]) => lab.verify('--business', people.businessId, ...words)

const BROWSERS = ['visitors', 'visitor_links', 'visitor_touches']
const TABLES = ['events', 'event_statistics', 'contact_snapshots', 'contact_redirects', ...BROWSERS]
const KEPT = [...TABLES, 'web_events']
const FEEDS = ['event_statistics_feed', 'contact_redirects_feed']

async function truncate(...tables: string[]): Promise<void> {
  for (const table of tables) await lab.damage(`truncate table ${table}`)
}

async function count(table: string, where: string): Promise<number> {
  const query = `select count() as rows from ${table} final where ${where}`
  const rows = await (await lab.clickhouse.query({ query, format: 'JSONEachRow' })).json<{ rows: string }>()
  return Number(rows[0]?.rows)
}

// damage.test.ts covers a table that lacks all data of one business.
test('all that the outbox holds is restored', async () => {
  await truncate(...TABLES)
  const before = await verifyTheirs()
  expect(before).toMatchObject({ exitCode: 1, agree: false, notCompared: 0 })
  expect(before.found).toEqual({
    events: 4,
    statistics: 4,
    revenue: 2,
    orders: 1,
    contact: 3,
    merge: 1,
    visitor: 2,
    erasure: 1,
  })
  expect(await verifyTheirs('--repair')).toMatchObject({ exitCode: 0, agree: true, differences: [] })
  expect(await verifyTheirs('--repair')).toMatchObject({
    agree: true,
    repaired: { saves: 0, copies: 0, contacts: 0, visitors: 0, erasures: 0, tables: 0 },
  })
})

test('every table and view that the migrations create is checked, and no other', async () => {
  const { internal, public: shown } = lab.clickhouse.databases
  const query = `select if(t.database = '${shown}', 'public', 'internal') as database, t.name as name
    from system.tables as t where t.database in ('${shown}', '${internal}') order by 1, 2`
  const rows = await (await lab.clickhouse.query({ query, format: 'JSONEachRow' })).json()
  const made = await listClickHouse()
  expect(made).toHaveLength(rows.length)
  expect(made).toEqual(expect.arrayContaining(rows))
})

test.each(['internal', 'public'] as const)('a view that shows too little is made again: %s', async (database) => {
  await lab.emptyView('contacts', database)
  const { differences } = await verifyTheirs()
  expect(differences).toMatchObject([{ kind: 'view', name: 'contacts', clickhouse: '0 contacts' }])
  expect(await verifyTheirs('--repair')).toMatchObject({ exitCode: 0, agree: true })
})

test('the web events and touches of a person belong to them again in an empty ClickHouse', async () => {
  const { businessId, ann } = people
  await truncate(...TABLES)
  expect(await verifyTheirs('--repair')).toMatchObject({ exitCode: 0, agree: true })
  for (const view of ['web_hits', 'touches', 'attributed_purchases']) {
    const query = `select distinct contact_id from ${view} where business_id = '${businessId}' and contact_id = '${ann}'`
    const found = await (await lab.clickhouse.query({ query, format: 'JSONEachRow' })).json()
    expect([view, found]).toEqual([view, [{ contact_id: ann }]])
  }
})

test('a restored backup gets what came after it, and loses what it still had of an erased person', async () => {
  const { businessId, browsers } = people
  // At the end, Ann's browser belongs to Bob.
  await lab.pipeline.apply(identify(businessId, identifyFact({ email: 'bob@x.io' }, { visitorId: browsers.ann })))
  await lab.worker.apply(captureOf(businessId, browsers.ann, [hitOf({ occurredAt: NOW + 1 })]))
  await lab.shipped()
  for (const table of KEPT) await lab.damage(`create table ${table}_kept engine = Memory as select * from ${table}`)
  await lab.pipeline.apply(
    track(businessId, eventFact('lesson', { email: 'ann@x.io' }, { tags: ['later'] })),
    track(businessId, eventFact('purchase', { email: 'carl@x.io' }, { value: 5 })),
    track(businessId, eventFact('lesson', { email: 'ann@x.io', phone: '972500000009' })),
  )
  await lab.pipeline.apply({ kind: 'erase', businessId, receivedAt: 0, contactId: people.bob })
  await lab.shipped()
  for (const feed of FEEDS) await lab.damage(`detach table ${feed}`)
  for (const table of KEPT) {
    await truncate(table)
    await lab.damage(`insert into ${table} select * from ${table}_kept`)
  }
  for (const feed of FEEDS) await lab.damage(`attach table ${feed}`)
  const before = await verifyTheirs()
  expect(before.found).toMatchObject({ events: 2, statistics: 2, contact: 2, visitor: 2, erasure: 2 })
  const ofBob = before.differences.find(({ kind, contactId }) => kind === 'erasure' && contactId === people.bob)
  expect(ofBob?.name.split(', ')).toEqual(
    expect.arrayContaining(['timeline', 'links', 'visitors', 'touches', 'web events']),
  )
  expect(await verifyTheirs('--repair')).toMatchObject({ exitCode: 0, agree: true })
  for (const table of [...BROWSERS, 'web_events']) {
    const alive = table === 'web_events' ? 'true' : 'erased = 0'
    expect([table, await count(table, `visitor_id = '${browsers.bob}' and ${alive}`)]).toEqual([table, 0])
    expect([table, await count(table, `visitor_id = '${browsers.ann}' and ${alive}`)]).toEqual([table, 1])
  }
  for (const table of KEPT) await lab.damage(`drop table ${table}_kept sync`)
})

test('more contacts than are kept are restored too, also in slices of one', async () => {
  await truncate(...TABLES)
  const small = { sliceSize: 1, maxKept: 1 }
  const before = await lab.verifyDirectly(small, { businessIds: [people.businessId], repair: false })
  expect(before).toMatchObject({ contacts: 3, visitors: 2, differing: 5 })
  expect(before.found).toMatchObject({ contact: 3, merge: 1, statistics: 4, events: 4, visitor: 2 })
  expect(new Set(before.differences.map(({ contactId }) => contactId)).size).toBe(2)
  const repaired = await lab.verifyDirectly(small, { businessIds: [people.businessId], repair: true })
  expect(repaired).toMatchObject({ contacts: 3, differing: 0, differences: [] })
  expect(await verifyTheirs('--repair')).toMatchObject({ exitCode: 0, agree: true })
})

test('what is older than the outbox is listed, contact by contact; statistics and snapshots are restored nevertheless', async () => {
  await lab.sql`delete from outbox where id in (
    select id from outbox where ${people.businessId}::uuid = any (business_ids) order by id limit 1)`
  await truncate(...TABLES)
  const { exitCode, repaired, found, differences } = await verifyTheirs('--repair')
  expect([exitCode, found]).toEqual([1, { events: 3, revenue: 2, orders: 1 }])
  expect(repaired).toMatchObject({ saves: 1, copies: 0 })
  const anns = differences.filter(({ contactId, kind }) => contactId === people.ann && kind === 'events')
  expect(anns.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toMatchObject([
    { name: 'purchase', postgres: expect.stringContaining('2 times') as string, clickhouse: null },
    { name: 'refund', note: '1 missing, 1 older than the outbox' },
  ])
  expect(differences).toContainEqual(
    expect.objectContaining({
      contactId: people.bob,
      name: 'lesson',
      note: '2 missing, 2 older than the outbox',
    }),
  )
  expect(await verifyTheirs('--repair')).toMatchObject({
    exitCode: 1,
    found: { events: 3, revenue: 2, orders: 1 },
    repaired: { saves: 0, copies: 0, contacts: 0, visitors: 0, erasures: 0 },
  })
})

test('contacts that lack events are found also among more than are kept', async () => {
  const second = await makePeople(lab)
  await lab.shipped()
  await lab.damage(`alter table contact_snapshots delete where contact_id = '${people.ann}'`)
  await lab.damage(`alter table events delete where contact_id = '${second.ann}'`)
  const businessIds = [people.businessId, second.businessId]
  const repaired = await lab.verifyDirectly({ sliceSize: 1000, maxKept: 1 }, { businessIds, repair: true })
  expect(repaired).toMatchObject({ differing: 0, differences: [] })
  expect(repaired.repaired?.saves).toBeGreaterThan(0)
})

describe('tables and views that are missing', () => {
  // These lack the data of everybody.
  let shared: VerifyLab
  beforeEach(async () => {
    shared = lab
    lab = await openVerifyLab()
    people = await makePeople(lab)
    await lab.shipped()
  })
  afterEach(async () => {
    await lab.close()
    lab = shared
  })

  test('missing tables and views are named, created again and filled', async () => {
    const views = ['timeline', 'contact_event_statistics', 'contacts', 'revenue_by_day']
    const { internal, public: shown } = lab.clickhouse.databases
    for (const view of [...views, ...FEEDS, `${shown}.contacts`]) await lab.damage(`drop view ${view} sync`)
    for (const table of TABLES) await lab.damage(`drop table ${table} sync`)
    const before = await lab.verify()
    expect(before).toMatchObject({ exitCode: 1, agree: false, found: { table: 14 } })
    const lost = [...views, ...TABLES, ...FEEDS].map((name) => `${internal}.${name}`)
    expect(before.differences.map(({ name }) => name).toSorted()).toEqual([...lost, `${shown}.contacts`].toSorted())
    const repaired = await lab.verify('--repair')
    expect(repaired).toMatchObject({ exitCode: 0, agree: true, repaired: { tables: 14 } })
    await lab.pipeline.track(track(people.businessId, eventFact('lesson', { email: 'ann@x.io' })))
    await lab.shipped()
    expect(await lab.verify()).toMatchObject({ exitCode: 0, agree: true })
  })

  test('a single dropped table is created again, filled, and gets new rows', async () => {
    await lab.damage('drop table events sync')
    expect(await lab.verify('--repair')).toMatchObject({ exitCode: 0, agree: true, repaired: { tables: 1 } })
    await lab.pipeline.track(track(people.businessId, eventFact('lesson', { email: 'ann@x.io' }, { tags: ['new'] })))
    await lab.shipped()
    expect(await lab.verify()).toMatchObject({ exitCode: 0, agree: true })
  })
})
