// @long
import { afterAll, beforeAll, expect, test } from 'vitest'
import { scrubOutbox } from '../../src/outbox/scrub-outbox.ts'
import { GROUP_LIMITS, markShipped, nextGroup, setAside } from '../../src/timeline/shipping/groups.ts'
import { createErasureMask } from '../../src/timeline/shipping/mask-erased-contacts.ts'
import { insertEvents } from '../../src/timeline/shipping/insert-events.ts'
import { sendSnapshots } from '../../src/timeline/shipping/send-snapshots.ts'
import {
  type Lab,
  addContact,
  countOf,
  erase,
  eraseAll,
  eventOf,
  merge,
  newBusiness,
  openLab,
  query,
  save,
  saveLines,
  shipAll,
} from './lab.ts'

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
})
afterAll(async () => {
  await lab?.close()
})

const statisticsOf = (business: string) =>
  query<{ contact_id: string; event: string; first_ms: number; last_ms: number; count: number }>(
    lab,
    `select contact_id, event, first_ms, last_ms, count from contact_event_statistics
      where business_id = {business: UUID} order by toString(contact_id), event`,
    { business },
  )
const contactsOf = async (business: string) => {
  const rows = await query<{ contact_id: string }>(
    lab,
    'select contact_id from contacts where business_id = {business: UUID}',
    { business },
  )
  return rows.map((row) => row.contact_id).toSorted()
}
const timelineOf = (business: string) =>
  query<Record<string, unknown>>(
    lab,
    'select * from timeline where business_id = {business: UUID} order by occurred_ms',
    { business },
  )

test('a merge moves the past of the loser to the survivor, a merge of merged ones too', async () => {
  const business = newBusiness()
  const [a, b, c] = [
    await addContact(lab, business),
    await addContact(lab, business),
    await addContact(lab, business),
  ] as const
  await save(lab, business, [
    { contact_id: a, occurred_ms: 300 },
    { contact_id: b, occurred_ms: 100 },
    { contact_id: b, occurred_ms: 500, event: 'only_b' },
    { contact_id: c, occurred_ms: 200 },
  ])
  await shipAll(lab)
  expect(await contactsOf(business)).toEqual([a, b, c].toSorted())
  await merge(lab, business, [c], b)
  await shipAll(lab)
  expect(await statisticsOf(business)).toEqual([
    { contact_id: a, event: 'lesson_done', first_ms: 300, last_ms: 300, count: 1 },
    { contact_id: b, event: 'lesson_done', first_ms: 100, last_ms: 200, count: 2 },
    { contact_id: b, event: 'only_b', first_ms: 500, last_ms: 500, count: 1 },
  ])
  await merge(lab, business, [b, c], a)
  // Data of the loser that was in progress arrives after the merge.
  await save(lab, business, [{ contact_id: c, occurred_ms: 400 }])
  await shipAll(lab)
  expect(await contactsOf(business)).toEqual([a])
  expect(await statisticsOf(business)).toEqual([
    { contact_id: a, event: 'lesson_done', first_ms: 100, last_ms: 400, count: 4 },
    { contact_id: a, event: 'only_b', first_ms: 500, last_ms: 500, count: 1 },
  ])
  const timeline = await timelineOf(business)
  expect(timeline.map((row) => [row['contact_id'], row['occurred_ms']])).toEqual([
    [a, 100],
    [a, 200],
    [a, 300],
    [a, 400],
    [a, 500],
  ])
})

test('contacts show their identities: the primary one first, unproven ones last, none of a loser or of the erased', async () => {
  const business = newBusiness()
  const loser = await addContact(lab, business, { identities: [{ kind: 'email', value: 'old@x.io' }] })
  const survivor = await addContact(lab, business, {
    identities: [
      { kind: 'email', value: 'page@x.io', isProven: false },
      { kind: 'email', value: 'b@x.io' },
      { kind: 'email', value: 'a@x.io' },
      { kind: 'phone', value: '972500000001', isRead: true },
      { kind: 'phone', value: '0501' },
      { kind: 'platformCustomerId', value: '42' },
    ],
  })
  const nobody = await addContact(lab, business)
  const identitiesOf = () =>
    query(
      lab,
      `select contact_id, emails, phones, platform_customer_ids from contacts where business_id = {business: UUID}
        order by toString(contact_id)`,
      { business },
    )
  const bare = { contact_id: nobody, emails: [], phones: [], platform_customer_ids: [] }
  await save(lab, business, [], [loser, survivor, nobody])
  await shipAll(lab)
  const known = {
    contact_id: survivor,
    emails: ['b@x.io', 'a@x.io', 'page@x.io'],
    phones: ['+972500000001', '0501'],
    platform_customer_ids: ['42'],
  }
  expect(await identitiesOf()).toEqual([{ ...bare, contact_id: loser, emails: ['old@x.io'] }, known, bare])
  await lab.sql`update identities set contact_id = ${survivor} where contact_id = ${loser}`
  await merge(lab, business, [loser], survivor)
  await shipAll(lab)
  expect(await identitiesOf()).toEqual([{ ...known, emails: ['old@x.io', ...known.emails] }, bare])
  const snapshots = () =>
    query(lab, 'select emails from contact_snapshots final where contact_id = {loser: UUID}', { loser })
  expect(await snapshots()).toEqual([{ emails: [] }])
  await erase(lab, business, [survivor, loser])
  await lab.sql`delete from identities where contact_id = ${survivor}`
  await eraseAll(lab)
  expect(await identitiesOf()).toEqual([bare])
  expect(
    await query(
      lab,
      'select count() as n from contact_snapshots where business_id = {business: UUID} and notEmpty(emails)',
      {
        business,
      },
    ),
  ).toEqual([{ n: 0 }])
})

test('businesses are separate, also when their contacts have the same id', async () => {
  const [one, two] = [newBusiness(), newBusiness()]
  const id = await addContact(lab, one, { firstName: 'one' })
  const other = await addContact(lab, one)
  await addContact(lab, two, { id, firstName: 'two' })
  await save(lab, one, [{ contact_id: id }])
  await save(lab, two, [{ contact_id: id }, { contact_id: id }])
  await merge(lab, one, [id], other)
  await shipAll(lab)
  expect(await contactsOf(one)).toEqual([other])
  expect(await contactsOf(two)).toEqual([id])
  await erase(lab, one, [other, id])
  await eraseAll(lab)
  expect(await countOf(lab, one)).toEqual({ events: 0, counted: 0 })
  expect(await countOf(lab, two)).toEqual({ events: 2, counted: 2 })
  expect(await statisticsOf(two)).toMatchObject([{ contact_id: id, count: 2 }])
})

test('the far past and the far future keep their milliseconds; as dates they saturate', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  const instants = [
    -62_135_596_800_000, -2_208_988_800_001, -1, 0, 951_782_400_123, 10_413_792_000_000, 253_402_300_799_999,
  ]
  await save(
    lab,
    business,
    instants.map((occurred_ms) => ({ contact_id: contact, occurred_ms })),
  )
  await shipAll(lab)
  const rows = await timelineOf(business)
  expect(rows.map((row) => [row['occurred_ms'], row['occurred_at']])).toEqual([
    [-62_135_596_800_000, '1900-01-01 00:00:00.000'],
    [-2_208_988_800_001, '1900-01-01 00:00:00.000'],
    [-1, '1969-12-31 23:59:59.999'],
    [0, '1970-01-01 00:00:00.000'],
    [951_782_400_123, '2000-02-29 00:00:00.123'],
    [10_413_792_000_000, '2299-12-31 23:59:59.999'],
    [253_402_300_799_999, '2299-12-31 23:59:59.999'],
  ])
  expect(await statisticsOf(business)).toMatchObject([
    { first_ms: -62_135_596_800_000, last_ms: 253_402_300_799_999, count: 7 },
  ])
})

test('text of every kind and numbers of every size come back as they were', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business, {
    firstName: '名 "\\\'\t\n🎓',
    traits: { note: [1, JSON.stringify('a\\b"c\n\u2028')] },
  })
  const texts = [
    'שיעור הושלם',
    '🎓'.repeat(32),
    'e\u0301\u00e9',
    "'; drop table events; --",
    'tab\tnew\nline\\',
    '\u2028\u0001',
  ]
  await save(
    lab,
    business,
    texts.map((event, i) => ({
      contact_id: contact,
      event,
      occurred_ms: i,
      value: [0.1 + 0.2, 1.797e308, 5e-324, -1e15, 123_456_789.123457, 2 ** 53][i]!,
      counted: ['0.1', '999999999999999.999999', '-0.000001', '-1000000000000000', '123456789.123457', '0'][i]!,
      currency: 'USD',
      idempotency_key: event,
      properties: JSON.stringify({ [event]: event }),
    })),
  )
  await shipAll(lab)
  const rows = await timelineOf(business)
  expect(rows.map((row) => [row['event'], row['idempotency_key'], row['properties'], row['value']])).toEqual(
    texts.map((text, i) => [
      text,
      text,
      JSON.stringify({ [text]: text }),
      [0.1 + 0.2, 1.797e308, 5e-324, -1e15, 123_456_789.123457, 2 ** 53][i],
    ]),
  )
  const [sum] = await query<{ sum: string }>(
    lab,
    'select toString(sum(counted_revenue)) as sum from timeline where business_id = {business: UUID}',
    { business },
  )
  expect(sum).toEqual({ sum: '123456789.223455' })
  const [row] = await query(
    lab,
    'select first_name, custom_fields from contacts where business_id = {business: UUID}',
    { business },
  )
  expect(row).toEqual({ first_name: '名 "\\\'\t\n🎓', custom_fields: JSON.stringify({ note: 'a\\b"c\n\u2028' }) })
})

test('an erased person is in no view, under no id, also when a late shipper sends what it held', async () => {
  const business = newBusiness()
  const [survivor, loser, stays] = [
    await addContact(lab, business, { firstName: 'Ann' }),
    await addContact(lab, business),
    await addContact(lab, business),
  ] as const
  await save(lab, business, [{ contact_id: survivor }, { contact_id: loser }, { contact_id: stays }])
  await merge(lab, business, [loser], survivor)
  await shipAll(lab)
  await save(lab, business, [{ contact_id: survivor }, { contact_id: stays }])
  const late = await nextGroup(lab.sql, lab.lease.owner, GROUP_LIMITS)
  // A shipper that read the contact before the erasure sends it afterwards.
  await sendSnapshots(lab, late!.id)
  const kept = await lab.sql`select * from contacts where id = ${survivor}`
  await saveLines(
    lab,
    business,
    [JSON.stringify(eventOf(business, { contact_id: survivor, counted: 'unreadable' }))],
    [survivor],
  )
  await erase(lab, business, [survivor, loser])
  await shipAll(lab)
  // As the front door does after an event of the person was set aside.
  await scrubOutbox(lab.sql, business, [survivor, loser])
  expect(await eraseAll(lab)).toBe(2)
  expect(await eraseAll(lab)).toBe(0)

  await insertEvents(lab.clickhouse, late!.lines, late!.id)
  await lab.clickhouse.insert({
    table: 'contact_snapshots',
    values: [
      { business_id: business, contact_id: survivor, revision: 99, first_name: kept[0]?.['first_name'] as string },
    ],
    format: 'JSONEachRow',
  })
  expect(await countOf(lab, business)).toEqual({ events: 2, counted: 2 })
  expect(await contactsOf(business)).toEqual([stays])
  expect((await timelineOf(business)).map((row) => row['contact_id'])).toEqual([stays, stays])
  expect(await statisticsOf(business)).toMatchObject([{ contact_id: stays, count: 2 }])
  await lab.clickhouse.command({ query: 'optimize table contact_snapshots final' })
  const left = await query(lab, 'select first_name, erased from contact_snapshots where contact_id = {id: UUID}', {
    id: survivor,
  })
  expect(left).toEqual([{ first_name: null, erased: 1 }])
  expect(
    await lab.sql`select from outbox where events like ${`%${survivor}%`} or contact_ids && array[${survivor}::uuid]`,
  ).toHaveLength(0)
  expect(await lab.sql`select from dead_letters`).toHaveLength(0)
  expect(
    await lab.sql`select from erasures where scrubbed_at is null or hidden_at is null or deleted_at is null`,
  ).toHaveLength(0)
})

test('nothing is deleted while another owner still sends what it had read of the person', async () => {
  const business = newBusiness()
  const [erased, stays] = [await addContact(lab, business), await addContact(lab, business)] as const
  const [theirs] = await save(lab, business, [{ contact_id: erased }, { contact_id: stays }])
  const slow = await nextGroup(lab.sql, lab.lease.owner, GROUP_LIMITS)
  await erase(lab, business, [erased])
  expect(await eraseAll(lab)).toBe(0)
  await setAside(lab.sql, slow!.id, [{ line: JSON.stringify(theirs), reason: 'r' }])
  await insertEvents(lab.clickhouse, slow!.lines, slow!.id)
  await markShipped(lab.sql, slow!.id)
  expect(await eraseAll(lab)).toBe(1)
  expect(await countOf(lab, business)).toEqual({ events: 1, counted: 1 })
  expect(await lab.sql`select from dead_letters`).toHaveLength(0)
})

test('erasures in many businesses take one walk through the outbox, a part of it at a time', async () => {
  await lab.sql`delete from outbox`
  const people: { business: string; contact: string }[] = []
  for (let nth = 0; nth < 6; nth += 1) {
    const business = newBusiness()
    const contact = await addContact(lab, business)
    await save(lab, business, [{ contact_id: contact }])
    people.push({ business, contact })
  }
  await shipAll(lab)
  for (const { business, contact } of people) await erase(lab, business, [contact])
  const hideMore = createErasureMask(lab, { ms: 0, rows: 2 })
  const left = async () => {
    const [row] = await lab.sql<{ rows: number; hidden: number }[]>`
      select (select count(*)::int from outbox where event_count > 0) as rows,
        (select count(*)::int from erasures where deleted_at is null and hidden_at is not null) as hidden`
    return row
  }
  expect([await hideMore(), await left()]).toEqual(['more', { rows: 4, hidden: 0 }])
  // No data of an erased person is saved any more, but data of others is.
  await save(lab, newBusiness(), [{ contact_id: newBusiness() }])
  expect([await hideMore(), await left()]).toEqual(['more', { rows: 3, hidden: 0 }])
  for (const { business } of people.slice(4))
    expect(await query(lab, 'select * from timeline where business_id = {business: UUID}', { business })).toEqual([])
  expect([await hideMore(), await left()]).toEqual(['done', { rows: 1, hidden: 6 }])
  await shipAll(lab)
  expect(await eraseAll(lab)).toBe(6)
})

test.each([
  [100, ['more', 'done'], [100, 100]],
  [101, ['more', 'done'], [100, 101]],
])('%i erasures: one walk is about a hundred people, and the others come next', async (erasures, answers, hidden) => {
  const business = newBusiness()
  const contacts = await Promise.all(Array.from({ length: erasures }, () => addContact(lab, business)))
  for (const contact of contacts) await erase(lab, business, [contact])
  const hideMore = createErasureMask(lab)
  const found: unknown[] = []
  for (const _ of answers) {
    const answer = await hideMore()
    const rows = await lab.sql`select from erasures where deleted_at is null and hidden_at is not null`
    found.push([answer, rows.length])
  }
  expect(found).toEqual(answers.map((answer, nth) => [answer, hidden[nth]]))
  expect(await eraseAll(lab)).toBe(erasures)
})

test('the search ends early for rows that a front door has scrubbed meanwhile', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  for (let nth = 0; nth < 4; nth += 1) await save(lab, business, [{ contact_id: contact }])
  await shipAll(lab)
  await erase(lab, business, [contact])
  const hideMore = createErasureMask(lab, { ms: 0, rows: 1 })
  expect(await hideMore()).toBe('more')
  await scrubOutbox(lab.sql, business, [contact])
  expect(await hideMore()).toBe('done')
  expect(await eraseAll(lab)).toBe(1)
})

test('an erasure that was cut short after any step is finished by the next one', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  await save(lab, business, [{ contact_id: contact }])
  await shipAll(lab)
  await erase(lab, business, [contact])
  await eraseAll(lab)
  await lab.sql`update erasures set deleted_at = null`
  expect(await eraseAll(lab)).toBeGreaterThan(0)
  await lab.sql`update erasures set deleted_at = null, hidden_at = null`
  expect(await eraseAll(lab)).toBeGreaterThan(0)
  await lab.sql`update erasures set deleted_at = null, hidden_at = null, scrubbed_at = null`
  expect(await eraseAll(lab)).toBeGreaterThan(0)
  expect(await countOf(lab, business)).toEqual({ events: 0, counted: 0 })
})

test('revenue by day is per currency, and counts orders that came without an amount', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  const day = Date.UTC(2024, 1, 29)
  const sale = { contact_id: contact, occurred_ms: day, type: 'purchase', is_order: 1, currency: 'USD' } as const
  await save(lab, business, [
    ...Array.from({ length: 10 }, () => ({ ...sale, value: 0.1, counted: '0.1' })),
    { ...sale, occurred_ms: day + 86_399_999, type: 'refund', is_order: 0, value: -0.25, counted: '-0.25' },
    { ...sale, currency: 'ILS', value: 5, counted: '5' },
    { ...sale, currency: null },
    { ...sale, occurred_ms: day + 86_400_000, value: 7, counted: '7' },
    { contact_id: contact, occurred_ms: day, type: 'booking', value: 100, currency: 'USD' },
  ])
  await shipAll(lab)
  const rows = await query(
    lab,
    `select day, currency, toString(revenue) as revenue, toString(purchased) as purchased,
    toString(refunded) as refunded, orders from revenue_by_day where business_id = {business: UUID} order by day, currency`,
    { business },
  )
  expect(rows).toEqual([
    { day: '2024-02-29', currency: '', revenue: '0', purchased: '0', refunded: '0', orders: 1 },
    { day: '2024-02-29', currency: 'ILS', revenue: '5', purchased: '5', refunded: '0', orders: 1 },
    { day: '2024-02-29', currency: 'USD', revenue: '0.75', purchased: '1', refunded: '0.25', orders: 10 },
    { day: '2024-03-01', currency: 'USD', revenue: '7', purchased: '7', refunded: '0', orders: 1 },
  ])
})
