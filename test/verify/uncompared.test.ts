// @long
/**
 * Data that cannot be compared is reported, does not prevent the comparison of other contacts, and is not a difference.
 */
import { beforeEach, expect, test } from 'vitest'
import { agrees, toJson, toText } from '../../src/admin/verify/report.ts'
import { repeatClickHouse } from '../../src/migrate/migrate.ts'
import type { ClickHouseClient } from '../../src/stores/clickhouse.ts'
import { insertEvents } from '../../src/timeline/shipping/insert-events.ts'
import { encodeTimelineRow } from '../../src/outbox/timeline-row.ts'
import { createBusiness } from '../support/stack.ts'
import { eventOf } from '../timeline/lab.ts'
import { makePeople, openVerifyLab, type People } from './verify-lab.ts'
import { useOpened } from '../support/use-opened.ts'

const lab = useOpened(openVerifyLab)
let people: People
// New people for each test, and only they are compared: the damage of other tests remains.
beforeEach(async () => {
  people = await makePeople(lab)
  await lab.shipped()
})

const SIZES = { sliceSize: 1000, maxKept: 100 }
const NOW = 1_800_000_000_000

/** Returns the same client. `before` is awaited before each query, and may replace it by another query. */
function heldUp(before: (query: string) => Promise<string | void>): ClickHouseClient {
  return Object.create(lab.clickhouse, {
    query: {
      value: async (params: Parameters<ClickHouseClient['query']>[0]) =>
        await lab.clickhouse.query({ ...params, query: (await before(params.query)) ?? params.query }),
    },
  }) as ClickHouseClient
}

/** Adds an event that only ClickHouse has. */
const addEvent = (businessId: string, contact_id: string) =>
  insertEvents(
    lab.clickhouse,
    [encodeTimelineRow(eventOf(businessId, { contact_id, occurred_ms: NOW, received_ms: NOW }))],
    crypto.randomUUID(),
  )

test('a business that is created meanwhile is known', async () => {
  const clickhouse = heldUp(async (query) => {
    if (!query.includes('from events group by business_id')) return
    const { businessId } = await createBusiness(lab.sql)
    await addEvent(businessId, crypto.randomUUID())
  })
  const { differences } = await lab.verifyDirectly({ ...SIZES, clickhouse }, { repair: false })
  expect(differences.filter(({ kind }) => kind === 'business')).toEqual([])
  await lab.damage('alter table events delete where occurred_ms = 1800000000000')
  await lab.damage('alter table event_statistics delete where first_ms = 1800000000000')
})

test('a view whose tables keep changing is reported, and hides no other that is proven wrong', async () => {
  const { businessId } = people
  const only = { businessIds: [businessId], repair: false }
  // Adds an event between the read of the views and the second read of their tables.
  const clickhouse = heldUp(async (query) => {
    if (query.includes("'stored' as side") && !query.includes("'shown' as side")) await addEvent(businessId, people.ann)
  })
  await lab.emptyView('contact_event_statistics')
  const busy = await lab.verifyDirectly({ ...SIZES, clickhouse }, only)
  expect(busy).toMatchObject({ differences: [], uncompared: [{ businessId, what: 'view contact_event_statistics' }] })
  expect([agrees(busy), toJson(busy, 1)]).toMatchObject([null, { agree: null, uncompared: busy.uncompared }])
  expect(toText(busy, 1)).toMatch(/agree as far as they could be compared/)
  expect(toText(busy, 1)).toContain(`Business ${businessId} could not be compared (view contact_event_statistics)`)

  await lab.emptyView('contacts')
  const both = await lab.verifyDirectly({ ...SIZES, clickhouse }, only)
  expect(both.differences.filter(({ kind }) => kind === 'view')).toMatchObject([{ name: 'contacts' }])
  expect([agrees(both), both.uncompared]).toMatchObject([false, [{ what: 'view contact_event_statistics' }]])
  await repeatClickHouse(lab.clickhouse)
  await lab.damage(`alter table events delete where occurred_ms = ${NOW}`)
  await lab.damage(`alter table event_statistics delete where business_id = '${businessId}'`)
  await lab.verify('--business', businessId, '--repair')
  expect(await lab.verify('--business', businessId)).toMatchObject({ exitCode: 0, uncompared: [] })
})

/** A text in each query for contacts in ClickHouse. */
const OF_CONTACTS = "'merge' as kind"
const TOO_LONG = 'select sleepEachRow(0.5) from numbers(4) settings max_execution_time = 1, max_block_size = 1'

test('a statement that takes too long is repeated for half as many', async () => {
  const { businessId } = people
  let refusals = 3
  const clickhouse = heldUp((query) =>
    Promise.resolve(query.includes(OF_CONTACTS) && refusals-- > 0 ? TOO_LONG : undefined),
  )
  const result = await lab.verifyDirectly({ ...SIZES, clickhouse }, { businessIds: [businessId], repair: false })
  expect(result).toMatchObject({ contacts: 3, differences: [], uncompared: [] })
  expect(refusals).toBeLessThan(0)
})

test.each([
  ['contacts', OF_CONTACTS, 0],
  ['erasures', "'mark of a snapshot'", 3],
  ['views', "'shown' as side", 3],
])(
  'a business too large for a statement, in its %s, is reported; the others are compared',
  async (what, subject, seen) => {
    const other = await makePeople(lab)
    await lab.shipped()
    const businessIds = [people.businessId, other.businessId]
    const clickhouse = heldUp((query) =>
      Promise.resolve(query.includes(subject) && query.includes(people.businessId) ? TOO_LONG : undefined),
    )
    const well = await lab.verifyDirectly({ ...SIZES, clickhouse }, { businessIds, repair: true })
    expect(well).toMatchObject({ businesses: 2, contacts: 3 + seen, differences: [] })
    const reason = 'ClickHouse: TIMEOUT_EXCEEDED (159)'
    expect([agrees(well), well.uncompared]).toEqual([null, [{ businessId: people.businessId, what, reason }]])
    await lab.damage(`alter table contact_snapshots delete where contact_id = '${other.ann}'`)
    const ill = await lab.verifyDirectly({ ...SIZES, clickhouse }, { businessIds, repair: false })
    expect([agrees(ill), ill.found]).toEqual([false, { contact: 1 }])
    const repaired = await lab.verifyDirectly(SIZES, { businessIds, repair: true })
    expect([agrees(repaired), repaired.uncompared]).toEqual([true, []])
  },
)

test('a business without a contact in Postgres is reported too', async () => {
  const { businessId } = await createBusiness(lab.sql)
  const clickhouse = heldUp((query) => Promise.resolve(query.includes(OF_CONTACTS) ? TOO_LONG : undefined))
  const result = await lab.verifyDirectly({ ...SIZES, clickhouse }, { businessIds: [businessId], repair: false })
  expect(result).toMatchObject({ contacts: 0, uncompared: [{ businessId, what: 'contacts' }] })
})
