import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { GROUP_LIMITS, nextGroup, setAside } from '../../src/timeline/shipping/groups.ts'
import { insertEvents } from '../../src/timeline/shipping/insert-events.ts'
import { findFaultyLines } from '../../src/stores/insert-lines.ts'
import { takeLease } from '../../src/timeline/lease.ts'
import { encodeTimelineRow } from '../../src/outbox/timeline-row.ts'
import { purgeOutbox } from '../../src/outbox/purge-outbox.ts'
import { sendSnapshots } from '../../src/timeline/shipping/send-snapshots.ts'
import { sendStates, type States } from '../../src/timeline/shipping/send-states.ts'
import { shipOutbox } from '../../src/timeline/shipping/ship-outbox.ts'
import {
  type Lab,
  addContact,
  countOf,
  eventOf,
  newBusiness,
  openLab,
  query,
  save,
  saveLines,
  shipAll,
  waitingRows,
} from './lab.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
})
afterAll(async () => {
  await lab?.close()
})

async function take(): Promise<{ id: string; lines: string[] }> {
  const group = await nextGroup(lab.sql, lab.lease.owner, GROUP_LIMITS)
  if (!group) throw new Error('nothing waits')
  return group
}

test('events, their statistics and the contacts arrive, and the rows are marked', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business, {
    firstName: 'Zoë',
    stage: 2,
    tags: ['vip', 'naïve, "quoted"'],
    traits: { plan: [1, '"pro"'], seats: [1, '12'], gone: [2, null] },
    orderCount: 2,
    revenue: { USD: '30.000001', ILS: '-2' },
  })
  await save(lab, business, [
    { contact_id: contact, occurred_ms: 2000 },
    { contact_id: contact, occurred_ms: 1000 },
    {
      contact_id: contact,
      event: 'purchase',
      type: 'purchase',
      value: 10.5,
      counted: '10.5',
      currency: 'USD',
      is_order: 1,
    },
  ])
  expect(await shipAll(lab)).toBe(1)
  expect(await countOf(lab, business)).toEqual({ events: 3, counted: 3 })
  const [row] = await query(lab, 'select * from contacts where business_id = {business: UUID}', { business })
  expect(row).toMatchObject({
    contact_id: contact,
    first_name: 'Zoë',
    last_name: null,
    stage: 'Decision',
    tags: ['vip', 'naïve, "quoted"'],
    custom_fields: '{"plan":"pro","seats":12}',
    order_count: 2,
    revenue: { USD: 30.000001, ILS: -2 },
    created_at: '2023-11-14 22:13:20.000',
  })
  const statistics = await query(
    lab,
    'select event, first_ms, last_ms, count from contact_event_statistics where business_id = {business: UUID} and event = {event: String}',
    { business, event: 'lesson_done' },
  )
  expect(statistics).toEqual([{ event: 'lesson_done', first_ms: 1000, last_ms: 2000, count: 2 }])
  expect(await waitingRows(lab)).toBe(0)
})

test('a group that was inserted but not marked is sent again first, unchanged, and changes nothing', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  await save(lab, business, [{ contact_id: contact }, { contact_id: contact }])
  const group = await take()
  await insertEvents(lab.clickhouse, group.lines, group.id)
  await sendSnapshots(lab, group.id)
  await save(lab, business, [{ contact_id: contact }])
  expect(await take()).toEqual({ ...group, moreWaits: true })
  expect(await shipAll(lab)).toBe(2)
  expect(await countOf(lab, business)).toEqual({ events: 3, counted: 3 })
})

test('a kill that left the table written but not its view is repaired by the repeat', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  await save(lab, business, [{ contact_id: contact }, { contact_id: contact, event: 'other' }])
  const group = await take()
  await lab.clickhouse.command({ query: 'detach table event_statistics_feed' })
  await insertEvents(lab.clickhouse, group.lines, group.id)
  await lab.clickhouse.command({ query: 'attach table event_statistics_feed' })
  expect(await countOf(lab, business)).toEqual({ events: 2, counted: 0 })
  await shipAll(lab)
  expect(await countOf(lab, business)).toEqual({ events: 2, counted: 2 })
})

test('equal events in different groups all count', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  for (let i = 0; i < 5; i += 1) {
    await save(lab, business, [{ contact_id: contact, occurred_ms: 1_600_000_000_000, received_ms: 1_600_000_000_000 }])
    await shipAll(lab)
  }
  expect(await countOf(lab, business)).toEqual({ events: 5, counted: 5 })
})

test('an owner that was paused, and wakes up after another has taken over, changes nothing', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business, { firstName: 'old' })
  await save(lab, business, [{ contact_id: contact }])
  const group = await take()
  await shipAll(lab)
  await save(lab, business, [{ contact_id: contact }])
  await shipAll(lab)
  await insertEvents(lab.clickhouse, group.lines, group.id)
  expect(await countOf(lab, business)).toEqual({ events: 2, counted: 2 })
})

test('only the owner of the lease makes groups, and a lease that ran out is taken over', async () => {
  await lab.lease.release()
  const paused = await takeLease(lab, 200)
  // Its renewals stop, as in a paused process.
  await lab.sql`update timeline_lease set owner = ${crypto.randomUUID()}, lease_until = now() + interval '300 milliseconds'`
  const business = newBusiness()
  await save(lab, business, [{ contact_id: await addContact(lab, business) }])
  expect(await nextGroup(lab.sql, paused.owner, GROUP_LIMITS)).toBeUndefined()
  await expect.poll(() => paused.isHeld(), { timeout: PATIENCE_MS }).toBe(true)
  const second = await takeLease(lab, 200)
  expect(second.isHeld()).toBe(false)
  await paused.release()
  expect(paused.isHeld()).toBe(false)
  await expect.poll(() => second.isHeld(), { timeout: PATIENCE_MS }).toBe(true)
  expect(await shipOutbox(lab, second)).toEqual({ events: 1, moreWaits: false })
  await second.release()
  lab.lease = await takeLease(lab, 60_000)
})

test('a lease from before the clock was set back does not keep the next owner away', async () => {
  await lab.lease.release()
  await lab.sql`update timeline_lease set owner = ${crypto.randomUUID()}, lease_until = now() + interval '1 hour'`
  lab.lease = await takeLease(lab, 60_000)
  expect(lab.lease.isHeld()).toBe(true)
})

test('two owners at once never put one row in two groups', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  for (let i = 0; i < 40; i += 1) await save(lab, business, [{ contact_id: contact }])
  await Promise.all([shipAll(lab), shipAll(lab), shipAll(lab)])
  expect(await countOf(lab, business)).toEqual({ events: 40, counted: 40 })
  expect(await waitingRows(lab)).toBe(0)
})

test('a group is limited, and a row that is larger than the limits is still shipped', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  for (const count of [7, 2, 2, 2])
    await save(
      lab,
      business,
      Array.from({ length: count }, () => ({ contact_id: contact })),
    )
  const sizes: (number | undefined)[] = []
  for (let i = 0; i < 4; i += 1)
    sizes.push((await shipOutbox(lab, lab.lease, undefined, { events: 5, bytes: 1_000_000 }))?.events)
  expect(sizes).toEqual([7, 4, 2, undefined])
  for (const count of [2, 1, 1])
    await save(
      lab,
      business,
      Array.from({ length: count }, () => ({ contact_id: contact, properties: 'x'.repeat(1000) })),
    )
  expect(await shipOutbox(lab, lab.lease, undefined, { events: 100, bytes: 1500 })).toEqual({
    events: 2,
    moreWaits: true,
  })
  expect(await shipOutbox(lab, lab.lease, undefined, { events: 100, bytes: 9000 })).toEqual({
    events: 2,
    moreWaits: false,
  })
})

test('a group is limited by its contacts too, also without an event', async () => {
  const business = newBusiness()
  const people = await Promise.all(Array.from({ length: 6 }, () => addContact(lab, business)))
  for (const touched of [people.slice(0, 4), people.slice(4), people.slice(0, 2)])
    await saveLines(lab, business, [], touched)
  const groups: (boolean | undefined)[] = []
  for (let i = 0; i < 3; i += 1)
    groups.push((await shipOutbox(lab, lab.lease, undefined, { events: 5, bytes: 1_000_000 }))?.moreWaits)
  expect(groups).toEqual([true, false, undefined])
})

test('when rows fill a group one by one, the next row is known to wait', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  for (let i = 0; i < 5; i += 1) await save(lab, business, [{ contact_id: contact }])
  const groups: (boolean | undefined)[] = []
  for (let i = 0; i < 4; i += 1)
    groups.push((await shipOutbox(lab, lab.lease, undefined, { events: 2, bytes: 1_000_000 }))?.moreWaits)
  expect(groups).toEqual([true, true, false, undefined])
})

test('a row that commits after later ones were taken is shipped too', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const { promise: written, resolve: wrote } = Promise.withResolvers<void>()
  const slow = lab.sql.begin(async (tx) => {
    const line = encodeTimelineRow(eventOf(business, { contact_id: contact }))
    await tx`insert into outbox (events, event_count, business_ids, contact_ids, changed)
      values (${line}, 1, array[${business}::uuid], array[${contact}::uuid], '{true}')`
    wrote()
    await held
  })
  await written
  await save(lab, business, [{ contact_id: contact }])
  await shipAll(lab)
  expect(await countOf(lab, business)).toEqual({ events: 1, counted: 1 })
  release()
  await slow
  await shipAll(lab)
  expect(await countOf(lab, business)).toEqual({ events: 2, counted: 2 })
})

test('every contact of a group arrives, however many and however large they are', async () => {
  const business = newBusiness()
  const notes: Record<string, [number, string]> = { note: [1, JSON.stringify('x'.repeat(50_000))] }
  const people: string[] = []
  for (let i = 0; i < 450; i += 1) people.push(await addContact(lab, business, { traits: notes }))
  await saveLines(lab, business, [], people)
  expect(await shipAll(lab)).toBe(1)
  const counted = await query(
    lab,
    'select count() as n, uniqExact(contact_id) as people from contacts where business_id = {business: UUID}',
    { business },
  )
  expect(counted).toEqual([{ n: 450, people: 450 }])
})

test('every contact of a group arrives where they take more than one reading', async () => {
  const business = newBusiness()
  const ids = await lab.sql<{ id: string }[]>`
    insert into contacts (business_id, id, created_at, keyed)
    select ${business}, gen_random_uuid(), 1, true from generate_series(1, 601) returning id`
  for (const touched of [ids.slice(0, 100), ids.slice(0, 101), ids.slice(0, 600), ids]) {
    await saveLines(
      lab,
      business,
      [],
      touched.map(({ id }) => id),
    )
    await shipAll(lab)
    const counted = await query(lab, 'select count() as n from contacts where business_id = {business: UUID}', {
      business,
    })
    expect(counted).toEqual([{ n: touched.length }])
  }
})

test('no more are read at once than a table allows, however small those before were', async () => {
  const readings: number[] = []
  const states: States<number, string> = {
    table: 'contact_snapshots',
    maxRows: 300,
    readTouched: async () => Array.from({ length: 701 }, (_, key) => key),
    readRows: async (_, keys) => {
      readings.push(keys.length)
      return []
    },
    encode: (row) => row,
  }
  await sendStates(lab, states, crypto.randomUUID())
  expect(readings).toEqual([100, 300, 300, 1])
})

test('a late snapshot never replaces a newer one', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business, { firstName: 'first' })
  await save(lab, business, [], [contact])
  const group = await take()
  await lab.sql`update contacts set first_name = 'second', revision = 2 where id = ${contact}`
  await save(lab, business, [], [contact])
  await sendSnapshots(lab, group.id)
  await lab.sql`update contacts set first_name = 'stale', revision = 1 where id = ${contact}`
  await sendSnapshots(lab, group.id)
  const rows = await query(lab, 'select first_name from contacts where business_id = {business: UUID}', { business })
  expect(rows).toEqual([{ first_name: 'second' }])
  await lab.sql`delete from outbox`
})

test('contacts of megabytes behind many small ones are read and sent a few at a time', async () => {
  const business = newBusiness()
  const small = await Promise.all(Array.from({ length: 150 }, () => addContact(lab, business)))
  const gone = crypto.randomUUID()
  const words = (length: number) => Array.from({ length }, () => Math.random().toString(36)).join('')
  const huge = { much: [1, JSON.stringify(words(1_000_000))] as [number, string] }
  const fields = { much: [1, JSON.stringify(words(150_000))] as [number, string] }
  const first = await addContact(lab, business, { id: '00000000-0000-7000-8000-000000000000', traits: huge })
  const large = await Promise.all(Array.from({ length: 12 }, () => addContact(lab, business, { traits: fields })))
  await save(lab, business, [], [gone, first, ...small, ...large])
  const sent = vi.spyOn(lab.clickhouse, 'command')
  await shipAll(lab)
  const lengths = sent.mock.calls.map(([{ query: text }]) => text.length)
  sent.mockRestore()
  expect(Math.max(...lengths)).toBeLessThan(21_000_000)
  expect(lengths.length).toBeGreaterThan(2)
  const rows = await query(lab, 'select count() as n from contact_snapshots where business_id = {b: UUID}', {
    b: business,
  })
  expect(rows).toEqual([{ n: 163 }])
  await lab.sql`delete from outbox`
})

const poisoned = (business: string, contact_id: string) => [
  encodeTimelineRow(eventOf(business, { contact_id, event: '\ud800' })),
  encodeTimelineRow(eventOf(business, { contact_id, counted: 'much' })),
  encodeTimelineRow(eventOf(business, { contact_id, occurred_ms: 1e300 })),
  encodeTimelineRow(eventOf(business, { contact_id: 'nobody' })),
  '{"business_id":',
]

test('events that ClickHouse cannot read become dead letters, and their neighbours arrive', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  const good = (count: number) =>
    Array.from({ length: count }, () => encodeTimelineRow(eventOf(business, { contact_id: contact })))
  const bad = poisoned(business, contact)
  await saveLines(lab, business, [...good(300), ...bad.slice(0, 3), ...good(100)], [contact])
  await saveLines(lab, business, bad.slice(3), [contact])
  await saveLines(lab, business, good(1), [contact])
  expect(await shipAll(lab)).toBe(1)
  expect(await countOf(lab, business)).toEqual({ events: 401, counted: 401 })
  const letters =
    await lab.sql`select business_id, contact_id, kind, partition, reason, payload from dead_letters order by payload = ${bad[4]!}`
  expect(letters.map((letter) => letter['payload'] as string).toSorted()).toEqual(bad.toSorted())
  expect(letters.filter((letter) => letter['contact_id'] === contact)).toHaveLength(3)
  expect(
    letters.every(
      (letter) =>
        String(letter['reason']).startsWith('ClickHouse: CANNOT_') ||
        String(letter['reason']).startsWith('ClickHouse: INCORRECT'),
    ),
  ).toBe(true)
  expect(letters.at(-1)).toMatchObject({ business_id: null, contact_id: null, kind: 'timeline', partition: 'timeline' })
  await lab.sql`delete from dead_letters`
})

test('long events are packed, count in a group with their full size, and arrive unchanged', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  const texts = Array.from({ length: 6 }, (_, at) => JSON.stringify({ at, text: `"ü"\n${at}`.repeat(4000) }))
  for (const at of [0, 2, 4])
    await save(
      lab,
      business,
      texts.slice(at, at + 2).map((properties) => ({ contact_id: contact, properties })),
    )
  const [stored] = await lab.sql<[{ longest: number; whole: number }]>`
    select max(octet_length(events)) as longest, min(unpacked_bytes) as whole from outbox where ${business}::uuid = any(business_ids)`
  expect(stored.longest).toBeLessThan(5000)
  expect(stored.whole).toBeGreaterThan(60_000)
  const limits = { events: 100, bytes: Math.floor(2.5 * stored.whole) }
  expect(await shipOutbox(lab, lab.lease, undefined, limits)).toEqual({ events: 4, moreWaits: true })
  expect(await shipOutbox(lab, lab.lease, undefined, limits)).toEqual({ events: 2, moreWaits: false })
  const rows = await query(lab, 'select properties from events where business_id = {b: UUID}', { b: business })
  expect(rows.map((row) => (row as { properties: string }).properties).toSorted()).toEqual(texts.toSorted())
  await lab.sql`delete from outbox`
})

test('an event that cannot be read is set aside from among long ones that are packed', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  const long = { contact_id: contact, properties: JSON.stringify({ text: 'long '.repeat(8000) }) }
  const bad = encodeTimelineRow(eventOf(business, { ...long, counted: 'much' }))
  const good = [1, 2].map(() => encodeTimelineRow(eventOf(business, long)))
  await saveLines(lab, business, [good[0]!, bad, good[1]!], [contact])
  expect(await lab.sql`select from outbox where unpacked_bytes is not null`).toHaveLength(1)
  await shipAll(lab)
  expect(await countOf(lab, business)).toEqual({ events: 2, counted: 2 })
  expect(await lab.sql`select payload from dead_letters`).toEqual([{ payload: bad }])
  expect(await lab.sql`select events, event_count, unpacked_bytes from outbox`).toEqual([
    { events: good.join('\n'), event_count: 2, unpacked_bytes: null },
  ])
  await lab.sql`delete from dead_letters`
  await lab.sql`delete from outbox`
})

test('a crash between setting events aside and inserting the others repeats nothing and loses nothing', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  const bad = poisoned(business, contact)
  await saveLines(lab, business, [bad[0]!, encodeTimelineRow(eventOf(business, { contact_id: contact }))], [contact])
  const group = await take()
  await setAside(lab.sql, group.id, await findFaultyLines(lab.clickhouse, group.lines))
  const rest = await take()
  expect(rest).toMatchObject({ id: group.id, lines: group.lines.slice(1) })
  await insertEvents(lab.clickhouse, rest.lines, rest.id)
  await shipAll(lab)
  expect(await countOf(lab, business)).toEqual({ events: 1, counted: 1 })
  expect(await lab.sql`select from dead_letters`).toHaveLength(1)
  expect(await lab.sql`select event_count from outbox where group_id = ${group.id}`).toEqual([{ event_count: 1 }])
  await lab.sql`delete from dead_letters`
})

test('an owner that was paused sets nothing aside of what another has shipped meanwhile', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  await saveLines(lab, business, [encodeTimelineRow(eventOf(business, { contact_id: contact }))], [contact])
  const group = await take()
  await shipAll(lab)
  await setAside(lab.sql, group.id, [{ line: group.lines[0]!, reason: 'unreadable' }])
  expect(await lab.sql`select from dead_letters`).toEqual([])
  expect(await countOf(lab, business)).toEqual({ events: 1, counted: 1 })
})

test('twenty years of days, and a save as large as a batch can be, go in one insert each', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  const start = Date.UTC(2004, 0, 1)
  const days = Array.from({ length: 7300 }, (_, day) => ({
    contact_id: contact,
    occurred_ms: start + day * 86_400_000,
    source: 'batch' as const,
  }))
  await save(lab, business, days)
  await save(
    lab,
    business,
    Array.from({ length: 500 }, () => ({
      contact_id: contact,
      properties: JSON.stringify({ text: 'é'.repeat(16_000) }),
    })),
  )
  expect(await shipAll(lab)).toBe(2)
  expect(await countOf(lab, business)).toEqual({ events: 7800, counted: 7800 })
})

test('shipped rows are kept for as long as they are to be, and unshipped ones for ever', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  await shipAll(lab)
  await lab.sql`delete from outbox`
  for (let i = 0; i < 3; i += 1) await save(lab, business, [{ contact_id: contact }])
  await shipAll(lab)
  await lab.sql`update outbox set shipped_at = now() - interval '2 days' where id in (select id from outbox order by id limit 2)`
  await save(lab, business, [{ contact_id: contact }])
  await lab.sql`update outbox set created_at = now() - interval '1 year'`
  expect(await purgeOutbox(lab.sql, 86_400_000)).toBe('done')
  expect(await lab.sql`select from outbox`).toHaveLength(2)
})

test('shipped rows are kept for a minute, however short they are to be', async () => {
  await lab.sql`delete from outbox`
  await lab.sql`
    insert into outbox (events, event_count, business_ids, contact_ids, changed, shipped_at)
    select '', seconds, '{}', '{}', '{}', now() - seconds * interval '1 second' from unnest(array[30, 61]) as seconds`
  expect(await purgeOutbox(lab.sql, 0)).toBe('done')
  expect(await lab.sql`select event_count from outbox`).toEqual([{ event_count: 30 }])
  await lab.sql`delete from outbox`
})

test('many shipped rows are deleted in several steps', async () => {
  await lab.sql`delete from outbox`
  await lab.sql`
    insert into outbox (events, event_count, business_ids, contact_ids, changed, shipped_at)
    select '', 0, '{}', '{}', '{}', now() - interval '2 days' from generate_series(1, 2001)`
  expect(await purgeOutbox(lab.sql, 86_400_000)).toBe('more')
  expect(await lab.sql`select from outbox`).toHaveLength(1)
  expect(await purgeOutbox(lab.sql, 86_400_000)).toBe('done')
  expect(await lab.sql`select from outbox`).toHaveLength(0)
})
