import { uuidv7 } from 'uuidv7'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { GROUP_LIMITS, markShipped, nextGroup } from '../../src/timeline/shipping/groups.ts'
import { insertEvents } from '../../src/timeline/shipping/insert-events.ts'
import type { TimelineRow } from '../../src/outbox/timeline-row.ts'
import { READ_TIMEOUTS, type TimelinePage, readTimeline } from '../../src/timeline/reading/read-timeline.ts'
import { openGate } from './gate.ts'
import { type Lab, addContact, newBusiness, openLab, save, shipAll } from './lab.ts'
import { atLoad } from '../support/at-load.ts'

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
})
afterAll(async () => {
  await lab?.close()
})

async function read(
  businessId: string,
  contactIds: string[],
  limit = 100,
  cursor: string | null = null,
): Promise<TimelinePage> {
  const page = await readTimeline(lab, { businessId, contactIds, limit, cursor })
  if (typeof page === 'string') throw new Error(page)
  return page
}

/** Follows the cursors to the end. */
async function readAll(businessId: string, contactIds: string[], limit: number): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const page = await read(businessId, contactIds, limit, cursor)
    ids.push(...page.events.map((event) => event.eventId))
    expect(page.events.length).toBe(page.nextCursor === null ? page.events.length : limit)
    cursor = page.nextCursor
  } while (cursor !== null)
  return ids
}

const newestFirst = (rows: TimelineRow[]) =>
  rows
    .toSorted((a, b) => b.occurred_ms - a.occurred_ms || (a.event_id > b.event_id ? -1 : 1))
    .map((row) => row.event_id)

test('a long event reads the same while it is packed', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  const properties = { text: 'long ü '.repeat(4000) }
  await save(lab, business, [{ contact_id: contact, properties: JSON.stringify(properties) }])
  expect(await lab.sql`select from outbox where unpacked_bytes is not null`).toHaveLength(1)
  const before = await read(business, [contact])
  expect(before.events).toMatchObject([{ properties }])
  await shipAll(lab)
  expect(await read(business, [contact])).toEqual(before)
})

test('an event reads the same before and after it was shipped', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  const [row] = await save(lab, business, [
    {
      contact_id: contact,
      event: 'deal_won 🎓',
      occurred_ms: 1_700_000_000_123,
      received_ms: 1_700_000_001_000,
      type: 'purchase',
      value: 0.1 + 0.2,
      counted: '0.300000',
      currency: 'USD',
      is_order: 1,
      properties: '{"a":[1,null,{"ä":"\\n"}]}',
      source: 'live',
      idempotency_key: "o'1\t",
      visitor_id: 'v',
    },
  ])
  const before = await read(business, [contact])
  expect(before).toEqual({
    events: [
      {
        eventId: row!.event_id,
        event: 'deal_won 🎓',
        occurredAt: '2023-11-14T22:13:20.123Z',
        receivedAt: '2023-11-14T22:13:21.000Z',
        type: 'purchase',
        value: 0.1 + 0.2,
        currency: 'USD',
        countedRevenue: 0.3,
        properties: { a: [1, null, { ä: '\n' }] },
        source: 'live',
        idempotencyKey: "o'1\t",
        visitorId: 'v',
      },
    ],
    nextCursor: null,
  })
  await shipAll(lab)
  expect(await read(business, [contact])).toEqual(before)
})

test('an event without anything has nulls, and a far instant its own year', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  await save(lab, business, [
    { contact_id: contact, occurred_ms: -62_135_596_800_000 },
    { contact_id: contact, occurred_ms: Date.UTC(1897, 1, 12, 15, 6, 40) },
    { contact_id: contact, occurred_ms: 253_402_300_800_000 },
  ])
  await shipAll(lab)
  const { events } = await read(business, [contact])
  expect(events.map((event) => event.occurredAt)).toEqual([
    '+010000-01-01T00:00:00.000Z',
    '1897-02-12T15:06:40.000Z',
    '0001-01-01T00:00:00.000Z',
  ])
  expect(events[0]).toMatchObject({
    value: null,
    currency: null,
    properties: null,
    idempotencyKey: null,
    visitorId: null,
  })
})

test('what is shipped, under way and waiting is one timeline, page by page', async () => {
  const business = newBusiness()
  const [contact, merged, other] = [
    await addContact(lab, business),
    await addContact(lab, business),
    await addContact(lab, business),
  ] as const
  const instants = [5, 5, 5, 1, -3, 1_600_000_000_000, 7, 7]
  const seeds = instants.map((occurred_ms, i) => ({
    contact_id: i % 2 ? contact : merged,
    occurred_ms,
    event_id: uuidv7(),
  }))
  const rows = await save(lab, business, [...seeds, { contact_id: other }])
  await shipAll(lab)
  rows.push(
    ...(await save(
      lab,
      business,
      seeds.map((seed) => ({ ...seed, event_id: crypto.randomUUID() })),
    )),
  )
  const group = await nextGroup(lab.sql, lab.lease.owner, GROUP_LIMITS)
  await insertEvents(lab.clickhouse, group!.lines, group!.id)
  rows.push(
    ...(await save(lab, business, [...seeds.map((seed) => ({ ...seed, event_id: uuidv7() })), { contact_id: other }])),
  )
  const expected = newestFirst(rows.filter((row) => row.contact_id !== other))
  for (const limit of [1, 5, 23, 24, 25, 100]) {
    expect(await readAll(business, [contact, merged], limit), `limit ${limit}`).toEqual(expected)
  }
  await shipAll(lab)
  expect(await readAll(business, [contact, merged], 7)).toEqual(expected)
  expect(await readAll(newBusiness(), [contact, merged], 7)).toEqual([])
  expect(await readAll(business, [crypto.randomUUID()], 7)).toEqual([])
})

test('new events do not move a page', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  const rows = await save(
    lab,
    business,
    Array.from({ length: 6 }, (_, i) => ({ contact_id: contact, occurred_ms: i })),
  )
  const first = await read(business, [contact], 3)
  await save(lab, business, [{ contact_id: contact, occurred_ms: 100 }])
  await shipAll(lab)
  const second = await read(business, [contact], 3, first.nextCursor)
  expect([...first.events, ...second.events].map((event) => event.eventId)).toEqual(newestFirst(rows))
  expect(second.nextCursor).toBeNull()
})

test('a cursor that was not issued here is rejected', async () => {
  for (const cursor of ['', 'x', 'MTIz', '%', Buffer.from("0' or 1=1").toString('base64url')]) {
    const query = { businessId: newBusiness(), contactIds: [crypto.randomUUID()], limit: 1, cursor }
    expect(await readTimeline(lab, query)).toBe('invalid_cursor')
  }
})

test('every event acknowledged before is there while the shipper ships', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  let shipping = true
  const shipper = (async () => {
    while (shipping) await shipAll(lab)
  })()
  const acknowledged: string[] = []
  const readers = Array.from({ length: 3 }, async () => {
    while (shipping) {
      const before = acknowledged.slice()
      const seen = new Set((await read(business, [contact], 1000)).events.map((event) => event.eventId))
      expect(before.filter((id) => !seen.has(id))).toEqual([])
    }
  })
  for (let i = 0; i < 150; i += 1) {
    acknowledged.push((await save(lab, business, [{ contact_id: contact, occurred_ms: i }]))[0]!.event_id)
  }
  shipping = false
  await Promise.all([shipper, ...readers])
  expect(await readAll(business, [contact], 1000)).toEqual(acknowledged.toReversed())
})

test('a row that is marked as shipped while it is read is returned once', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  await save(lab, business, [{ contact_id: contact }])
  const group = await nextGroup(lab.sql, lab.lease.owner, GROUP_LIMITS)
  await insertEvents(lab.clickhouse, group!.lines, group!.id)
  expect((await read(business, [contact])).events).toHaveLength(1)
  await markShipped(lab.sql, group!.id)
  expect((await read(business, [contact])).events).toHaveLength(1)
})

test('ClickHouse has 3 s to answer, and 10 s while it answers pings', () => {
  expect(READ_TIMEOUTS).toEqual({ ms: 3000, whileAliveMs: 10_000 })
})

test('ClickHouse away: waits for it as long as that, then says that it is unavailable', async () => {
  const patience = { ms: 1000, whileAliveMs: 4000 }
  const business = newBusiness()
  const contact = await addContact(lab, business)
  await save(lab, business, [{ contact_id: contact }])
  await shipAll(lab)
  const gate = await openGate(lab.clickhouseUrl)
  const clickhouse = connectClickHouse(gate.url)
  const query = { businessId: business, contactIds: [contact], limit: 10, cursor: null }
  const timed = async () => {
    const started = performance.now()
    const page = await readTimeline({ ...lab, clickhouse }, query, patience)
    return { page, seconds: (performance.now() - started) / 1000 }
  }
  gate.shut()
  setTimeout(gate.open, 300)
  const back = await timed()
  expect(back.page).toMatchObject({ events: [{}] })
  expect(back.seconds).toBeLessThan(atLoad(1))
  for (const change of [gate.shut, gate.swallow]) {
    change()
    const { page, seconds } = await timed()
    expect(page).toBe('unavailable')
    expect(seconds).toBeGreaterThan(0.9)
    expect(seconds).toBeLessThan(atLoad(1.5))
  }
  await clickhouse.close()
  await gate.close()
})

test('a ClickHouse that is busy and answers pings gets more time', async () => {
  const patience = { ms: 1000, whileAliveMs: 4000 }
  const business = newBusiness()
  const contact = await addContact(lab, business)
  await save(lab, business, [{ contact_id: contact }])
  await shipAll(lab)
  await save(lab, business, [{ contact_id: contact }])
  const gate = await openGate(lab.clickhouseUrl)
  const clickhouse = connectClickHouse(gate.url)
  const readIn = async (ms: number) => {
    gate.slow(ms)
    return await readTimeline(
      { ...lab, clickhouse },
      { businessId: business, contactIds: [contact], limit: 10, cursor: null },
      patience,
    )
  }
  expect(await readIn(2000)).toMatchObject({ events: [{}, {}] })
  expect(await readIn(5000)).toBe('unavailable')
  await clickhouse.close()
  await gate.close()
})
