// @long
/**
 * Data that ClickHouse lost, doubled or altered is corrected from the outbox, whichever tokens ClickHouse still
 * remembers.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { GROUP_LIMITS, nextGroup } from '../../src/timeline/shipping/groups.ts'
import { insertEvents } from '../../src/timeline/shipping/insert-events.ts'
import { takeLease } from '../../src/timeline/lease.ts'
import { decodeTimelineRow, encodeTimelineRow, type TimelineRow } from '../../src/outbox/timeline-row.ts'
import { linesOf } from '../../src/outbox/pack-events.ts'
import { rebuildStatistics } from '../../src/timeline/resync/rebuild-statistics.ts'
import { shipOutbox, shipResent } from '../../src/timeline/shipping/ship-outbox.ts'
import { claimResends } from '../../src/timeline/shipping/claim-resends.ts'
import { NOW, eventFact, identify, identifyFact, openPipeline, track } from '../support/facts.ts'
import { createBusiness } from '../support/stack.ts'
import { type Lab, countOf, openLab, query, save, shipAll, waitingRows } from './lab.ts'

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
})
afterAll(async () => {
  await lab?.close()
})

const LONG = JSON.stringify({ text: 'long '.repeat(4000) })

interface Made {
  business: string
  contact: string
  events: TimelineRow[]
}

/** Ships three events of one person, in two saves, and one event of another. */
async function shipSome(): Promise<Made> {
  const { businessId: business } = await createBusiness(lab.sql)
  const pipeline = await openPipeline(lab.sql)
  const ann = { email: 'ann@x.io' }
  await pipeline.apply(
    identify(business, identifyFact(ann, { profile: { firstName: 'Ann' } })),
    track(business, eventFact('done', ann, { occurredAt: 1000, value: 0.1, sentCurrency: 'USD' })),
    track(business, eventFact('done', ann, { occurredAt: 2000, properties: '{"a":"\\"ü\\n"}', idempotencyKey: 'k' })),
  )
  const { contactId: contact } = await pipeline.track(track(business, eventFact('done', ann, { occurredAt: 3000 })))
  await pipeline.track(track(business, eventFact('done', { email: 'bob@x.io' })))
  await shipAll(lab)
  const rows = await lab.sql<{ events: string }[]>`
    select events from outbox where ${business}::uuid = any (business_ids) order by id`
  return { business, contact, events: rows.flatMap(({ events }) => linesOf(events)).map(decodeTimelineRow) }
}

const requestResync = (business: string) => lab.sql`
  update outbox set shipped_at = null, group_id = null, resend = '{}'
  where ${business}::uuid = any (business_ids) and shipped_at is not null`

async function resendAll(): Promise<number> {
  let groups = 0
  while (await shipResent(lab, lab.lease)) groups += 1
  return groups
}

async function setRight(business: string): Promise<void> {
  await requestResync(business)
  expect(await resendAll()).toBeGreaterThan(0)
  expect(await waitingRows(lab)).toBe(0)
}

const command = (text: string) => lab.clickhouse.command({ query: `${text} settings mutations_sync = 2` })

async function expectRight(business: string, contact: string, events: TimelineRow[]): Promise<void> {
  expect(await countOf(lab, business)).toEqual({ events: events.length, counted: events.length })
  expect(
    await query(
      lab,
      `select event_id, counted, properties from events where business_id = {business: UUID} order by toString(event_id)`,
      { business },
    ),
  ).toEqual(events.map((row) => ({ event_id: row.event_id, counted: Number(row.counted), properties: row.properties })))
  expect(
    await query(
      lab,
      `select first_ms, last_ms, count from contact_event_statistics
        where business_id = {business: UUID} and contact_id = {contact: UUID}`,
      { business, contact },
    ),
  ).toEqual([{ first_ms: 1000, last_ms: 3000, count: 3 }])
  expect(
    await query(lab, `select first_name from contacts where business_id = {business: UUID} order by first_name`, {
      business,
    }),
  ).toEqual([{ first_name: 'Ann' }, { first_name: null }])
}

const doubleStatistics = ({ business }: Made) =>
  lab.clickhouse.command({
    query: `insert into event_statistics select * from event_statistics where business_id = '${business}'
      settings insert_deduplicate = 0`,
  })

const DAMAGE: [string, (made: Made) => Promise<unknown>][] = [
  ['nothing', () => Promise.resolve()],
  ['a deleted event', ({ events }) => command(`alter table events delete where event_id = '${events[1]?.event_id}'`)],
  [
    'a deleted event with its statistics',
    async ({ business, events }) => {
      await command(`alter table events delete where event_id = '${events[0]?.event_id}'`)
      await command(`alter table event_statistics delete where business_id = '${business}'`)
    },
  ],
  ['a doubled event', ({ events }) => insertEvents(lab.clickhouse, lines(events.slice(0, 1)), crypto.randomUUID())],
  [
    'an altered event',
    ({ events }) => command(`alter table events update counted = 7 where event_id = '${events[0]?.event_id}'`),
  ],
  [
    'an event doubled in another form',
    ({ events }) =>
      insertEvents(lab.clickhouse, lines([{ ...events[0]!, counted: '9', properties: '{}' }]), crypto.randomUUID()),
  ],
  [
    'lost statistics',
    ({ business }) => command(`alter table event_statistics delete where business_id = '${business}'`),
  ],
  ['doubled statistics', doubleStatistics],
  [
    'statistics that reach too far',
    ({ business }) =>
      command(`alter table event_statistics update first_ms = -5, last_ms = 99 where business_id = '${business}'`),
  ],
  [
    'a lost snapshot',
    ({ business }) => command(`alter table contact_snapshots delete where business_id = '${business}'`),
  ],
  [
    'everything lost',
    async () => {
      for (const table of ['events', 'event_statistics', 'contact_snapshots', 'contact_redirects'])
        await lab.clickhouse.command({ query: `truncate table ${table}` })
    },
  ],
]

const lines = (events: TimelineRow[]) => events.map(encodeTimelineRow)

test.each(DAMAGE)('%s', async (_, damage) => {
  const made = await shipSome()
  await damage(made)
  await setRight(made.business)
  await expectRight(made.business, made.contact, made.events)
  await setRight(made.business)
  await expectRight(made.business, made.contact, made.events)
})

test('new events do not wait behind those sent again, and are not shipped with them', async () => {
  const made = await shipSome()
  await command(`alter table events delete where business_id = '${made.business}'`)
  await requestResync(made.business)
  const pipeline = await openPipeline(lab.sql)
  const another = track(made.business, eventFact('done', { email: 'ann@x.io' }, { occurredAt: 500 }))
  await pipeline.track(another)
  expect(await shipOutbox(lab, lab.lease)).toMatchObject({ events: 1 })
  expect(await countOf(lab, made.business)).toMatchObject({ events: 1 })
  // This event is counted when it is shipped, and not before.
  await pipeline.track(another)
  await resendAll()
  expect(await countOf(lab, made.business)).toEqual({ events: 5, counted: 5 })
  await shipAll(lab)
  expect(await countOf(lab, made.business)).toEqual({ events: 6, counted: 6 })
})

test('nothing is stamped while a group is under way: it may bring in just these events', async () => {
  const made = await shipSome()
  await save(lab, made.business, [{ contact_id: made.contact }])
  await nextGroup(lab.sql, lab.lease.owner, GROUP_LIMITS)
  await requestResync(made.business)
  expect(await claimResends(lab, lab.lease, GROUP_LIMITS)).toBe(false)
  await shipAll(lab)
  await resendAll()
  expect(await waitingRows(lab)).toBe(0)
})

test('one that was killed before the mark is sent again under its token, and changes nothing', async () => {
  const made = await shipSome()
  await command(`alter table events delete where business_id = '${made.business}'`)
  await command(`alter table event_statistics delete where business_id = '${made.business}'`)
  await requestResync(made.business)
  expect(await claimResends(lab, lab.lease, GROUP_LIMITS)).toBe(true)
  const group = await nextGroup(lab.sql, lab.lease.owner, GROUP_LIMITS)
  expect(group?.lines).toHaveLength(4)
  await insertEvents(lab.clickhouse, group?.lines ?? [], group?.id ?? '')
  expect(await claimResends(lab, lab.lease, GROUP_LIMITS)).toBe(false)
  await shipAll(lab)
  await expectRight(made.business, made.contact, made.events)
})

test('an event that lies in two rows is sent once', async () => {
  const made = await shipSome()
  await lab.sql`
    insert into outbox (events, event_count, business_ids, contact_ids, changed, shipped_at)
    select events, event_count, business_ids, contact_ids, changed, now() from outbox
    where ${made.business}::uuid = any (business_ids)`
  await command(`alter table events delete where business_id = '${made.business}'`)
  await setRight(made.business)
  await expectRight(made.business, made.contact, made.events)
})

test('statistics are those of Postgres also when events are lost for good, and when people were merged', async () => {
  const made = await shipSome()
  const pipeline = await openPipeline(lab.sql)
  await pipeline.identify(identify(made.business, identifyFact({ email: 'ann@x.io', phone: '972500000001' })))
  const joined = await pipeline.track(
    track(made.business, eventFact('done', { email: 'bob@x.io', phone: '972500000001' }, { occurredAt: 4000 })),
  )
  await shipAll(lab)
  await command(`alter table events delete where business_id = '${made.business}'`)
  await command(`alter table event_statistics update count = 1, last_ms = 9 where business_id = '${made.business}'`)
  await lab.sql`update outbox set events = '', event_count = 0 where ${made.business}::uuid = any (business_ids)`
  await setRight(made.business)
  expect(await countOf(lab, made.business)).toEqual({ events: 0, counted: 5 })
  const [person, ...others] = await query(
    lab,
    'select contact_id, first_ms, last_ms, count from contact_event_statistics where business_id = {business: UUID}',
    { business: made.business },
  )
  expect([person, others]).toEqual([{ contact_id: made.contact, first_ms: 1000, last_ms: NOW, count: 5 }, []])
  expect(joined.contactId).toBe(made.contact)
})

test('what waits packed is looked into, and counted once it is there', async () => {
  const made = await shipSome()
  const pipeline = await openPipeline(lab.sql)
  await pipeline.track(track(made.business, eventFact('done', { email: 'ann@x.io' }, { properties: LONG })))
  await requestResync(made.business)
  await command(`alter table event_statistics delete where business_id = '${made.business}'`)
  await command(`alter table events delete where business_id = '${made.business}'`)
  const packed = () => lab.sql`select from outbox where unpacked_bytes is not null`
  expect(await packed()).toHaveLength(1)
  expect(await resendAll()).toBeGreaterThan(0)
  expect(await countOf(lab, made.business)).toEqual({ events: 4, counted: 4 })
  await shipAll(lab)
  expect(await packed()).toHaveLength(0)
  expect(await countOf(lab, made.business)).toEqual({ events: 5, counted: 5 })
  await setRight(made.business)
  expect(await countOf(lab, made.business)).toEqual({ events: 5, counted: 5 })
})

test('many are sent in groups of a limited size', async () => {
  const made = await shipSome()
  await command(`alter table events delete where business_id = '${made.business}'`)
  await requestResync(made.business)
  let groups = 0
  while (await shipResent(lab, lab.lease, undefined, { events: 2, bytes: 1_000_000 })) groups += 1
  expect(groups).toBe(2)
  await expectRight(made.business, made.contact, made.events)
})

test('an owner that lost the lease while it asked stamps nothing', async () => {
  const made = await shipSome()
  await requestResync(made.business)
  const lost = { ...lab.lease, owner: crypto.randomUUID() }
  expect(await claimResends(lab, lost, GROUP_LIMITS)).toBe(false)
  const paused = { ...lab.lease, isHeld: () => false }
  await insertEvents(lab.clickhouse, lines(made.events.slice(0, 1)), crypto.randomUUID())
  await expect(claimResends(lab, paused, GROUP_LIMITS)).rejects.toThrow('lease')
  await resendAll()
  await expectRight(made.business, made.contact, made.events)
  const standby = await takeLease(lab, 1000)
  expect(standby.isHeld()).toBe(false)
  await standby.release()
})

/** Returns a client whose statements are held up: `before` gets the number of each, and is awaited. */
function heldUp(before: (statement: number) => Promise<unknown>): Lab['clickhouse'] {
  let statements = 0
  return Object.create(lab.clickhouse, {
    command: {
      value: async (params: Parameters<Lab['clickhouse']['command']>[0]) => {
        statements += 1
        await before(statements)
        return await lab.clickhouse.command(params)
      },
    },
  }) as Lab['clickhouse']
}

test('ClickHouse may delete only one of two copies, and when that was the right one, the other is deleted too', async () => {
  const made = await shipSome()
  const right = made.events[0]!
  await insertEvents(lab.clickhouse, lines([{ ...right, counted: '9' }]), crypto.randomUUID())
  await requestResync(made.business)
  // ClickHouse deletes part by part. This simulates that the event is already gone from the first part, so that the
  // copy in the second one is single.
  const clickhouse = heldUp(async (statement) => {
    if (statement === 1)
      await command(`alter table events delete where event_id = '${right.event_id}' and counted = ${right.counted}`)
  })
  while (await shipResent({ ...lab, clickhouse }, lab.lease)) expect(await waitingRows(lab)).toBe(0)
  await expectRight(made.business, made.contact, made.events)
})

test.each([3, 4])(
  'a wrong copy is deleted four times at most: after %i that came to nothing the rest goes on',
  async (idle) => {
    const made = await shipSome()
    await insertEvents(lab.clickhouse, lines(made.events.slice(0, 1)), crypto.randomUUID())
    await requestResync(made.business)
    let deletions = 0
    const clickhouse = Object.create(lab.clickhouse, {
      command: {
        value: async (params: Parameters<Lab['clickhouse']['command']>[0]) => {
          deletions += 1
          if (deletions > idle) return await lab.clickhouse.command(params)
        },
      },
    }) as Lab['clickhouse']
    expect(await claimResends({ ...lab, clickhouse }, lab.lease, GROUP_LIMITS)).toBe(true)
    expect(deletions).toBe(4)
    await shipAll(lab)
    expect(await countOf(lab, made.business)).toMatchObject({ events: idle < 4 ? 4 : 5 })
    // The next repair finds the copy that stayed.
    await setRight(made.business)
    await expectRight(made.business, made.contact, made.events)
  },
)

test.each([
  ['it deletes', 1],
  ['it inserts', 2],
])('an owner frozen before %s leaves no statistics as wrong as that made them', async (_, frozenAt) => {
  const made = await shipSome()
  await doubleStatistics(made)
  await requestResync(made.business)
  expect(await claimResends(lab, lab.lease, GROUP_LIMITS)).toBe(true)
  const group = await nextGroup(lab.sql, lab.lease.owner, GROUP_LIMITS)
  let isOurs = true
  const clickhouse = heldUp(async (statement) => {
    if (statement !== frozenAt) return
    // In the meantime, another owner takes over and marks the group as shipped.
    isOurs = false
    await shipAll(lab)
    expect(await waitingRows(lab)).toBe(0)
  })
  const lease = { ...lab.lease, isHeld: () => isOurs }
  await expect(rebuildStatistics({ ...lab, clickhouse }, group?.id ?? '', lease)).rejects.toThrow('lease')
  expect(await resendAll()).toBe(1)
  expect(await waitingRows(lab)).toBe(0)
  await expectRight(made.business, made.contact, made.events)
})
