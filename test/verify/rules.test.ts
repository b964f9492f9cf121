// @long
/**
 * Faults that no repair changes but each round reports: broken rules within Postgres or Redis, and data that only
 * ClickHouse has.
 */
import { uuidv7 } from 'uuidv7'
import { beforeEach, expect, test } from 'vitest'
import { streamKey } from '../../src/stream/keys.ts'
import { insertEvents } from '../../src/timeline/shipping/insert-events.ts'
import { encodeTimelineRow } from '../../src/outbox/timeline-row.ts'
import { makePeople, openVerifyLab, type People, recordedEvents } from './verify-lab.ts'
import { useOpened } from '../support/use-opened.ts'

// Several runs of `verify` per test. Each takes some hundred milliseconds on an idle machine.
const lab = useOpened(openVerifyLab)
let people: People
// New people for each test, and only they are compared: the damage of other tests remains.
beforeEach(async () => {
  people = await makePeople(lab)
  await lab.shipped()
})

const verifyTheirs = (...words: string[]) => lab.verify('--business', people.businessId, ...words)

const NOBODY = '01990000-0000-7000-8000-000000000000'

test('every rule of Postgres', async () => {
  const { businessId, ann, bob, bobBefore, eve } = people
  const broken: [() => Promise<unknown>, string, string][] = [
    [() => lab.sql`update identities set contact_id = ${NOBODY} where contact_id = ${ann}`, NOBODY, 'identities'],
    [
      () => lab.sql`update identifications set contact_id = ${bobBefore} where contact_id = ${ann}`,
      bobBefore,
      'identifications',
    ],
    [
      () => lab.sql`
        insert into segment_members (business_id, contact_id, segment_no, since, cause)
        values (${businessId}, ${bobBefore}, 1, 1, 'live')`,
      bobBefore,
      'segment_members',
    ],
    [() => lab.sql`update event_statistics set count = 0 where contact_id = ${bob}`, bob, 'lesson'],
    [() => lab.sql`delete from merge_log where losing_id = ${bobBefore}`, bobBefore, 'unlogged'],
    [() => lab.sql`update contacts set order_count = 1 where id = ${bobBefore}`, bobBefore, 'emptied'],
    [
      () => lab.sql`insert into contacts (business_id, id, created_at, keyed) values (${businessId}, ${eve}, 0, true)`,
      eve,
      'erased',
    ],
    [() => lab.sql`update contacts set merged_into = ${bobBefore} where id = ${ann}`, ann, bobBefore],
  ]
  for (const [breakIt] of broken) await breakIt()
  const { exitCode, differences } = await verifyTheirs()
  expect(exitCode).toBe(1)
  const found = differences
    .filter(({ kind }) => kind === 'postgres')
    .map(({ contactId, name }) => `${contactId} ${name}`)
  expect(found).toEqual(expect.arrayContaining(broken.map(([, contact, name]) => `${contact} ${name}`)))
  const after = await verifyTheirs('--repair')
  expect(after.differences.filter(({ kind }) => kind === 'postgres')).toHaveLength(found.length)
})

test('revenue that was changed in Postgres is corrected: the timeline and the snapshot say otherwise', async () => {
  await lab.sql`update revenue set amount = amount + 1 where contact_id = ${people.ann} and currency = 'USD'`
  expect(await verifyTheirs()).toMatchObject({ exitCode: 1, found: { revenue: 1, contact: 1 } })
  expect(await verifyTheirs('--repair')).toMatchObject({ exitCode: 0, repaired: { corrected: 1 } })
  expect(
    await lab.sql`
    select trim_scale(amount)::text as amount from revenue where contact_id = ${people.ann} and currency = 'USD'`,
  ).toEqual([{ amount: '40' }])
})

test('an event that Postgres does not know is listed, and stays with the statistics that count it', async () => {
  const known = (await recordedEvents(lab, people)).find(({ event }) => event === 'lesson')
  const strange = {
    ...known!,
    event_id: uuidv7(),
    contact_id: people.ann,
    received_ms: Date.now() - 90_000,
  }
  await lab.sql`update outbox set shipped_at = now() - interval '5 minutes' where id = (
    select min(id) from outbox where ${people.businessId}::uuid = any (business_ids))`
  await insertEvents(lab.clickhouse, [encodeTimelineRow(strange)], uuidv7())
  const { exitCode, differences } = await verifyTheirs('--repair')
  expect(exitCode).toBe(1)
  expect(differences).toMatchObject([
    {
      kind: 'events',
      contactId: people.ann,
      note: '1 that Postgres does not have',
      eventIds: [strange.event_id],
      isAhead: true,
    },
    { kind: 'statistics', contactId: people.ann, isAhead: true },
  ])
})

test('contacts and businesses that Postgres does not know are listed, and stay', async () => {
  const [known] = await recordedEvents(lab, people)
  const stranger = { ...known!, event_id: uuidv7(), contact_id: NOBODY }
  const elsewhere = { ...stranger, event_id: uuidv7(), business_id: uuidv7() }
  await insertEvents(lab.clickhouse, [stranger, elsewhere].map(encodeTimelineRow), uuidv7())
  const { exitCode, differences } = await lab.verify('--repair')
  expect(exitCode).toBe(1)
  expect(differences.filter(({ kind }) => kind === 'business')).toMatchObject([{ businessId: elsewhere.business_id }])
  const ofNobody = differences.filter(
    ({ businessId, contactId }) => businessId === people.businessId && contactId === NOBODY,
  )
  expect(ofNobody.filter(({ kind }) => kind === 'events')).toMatchObject([
    { postgres: null, note: 'Postgres does not know this contact' },
  ])
  await lab.damage(`alter table events delete where contact_id = '${NOBODY}'`)
  await lab.damage(`alter table event_statistics delete where contact_id = '${NOBODY}'`)
})

test('events that were set aside as dead letters are reported as such', async () => {
  await lab.sql`
    insert into dead_letters (id, business_id, contact_id, partition, stream_id, kind, reason, payload)
    values (${uuidv7()}, ${people.businessId}, ${people.bob}, 'timeline', 'x', 'timeline', 'unreadable', '')`
  await lab.sql`delete from outbox where ${people.businessId}::uuid = any (business_ids)`
  await lab.damage(`alter table events delete where contact_id = '${people.bob}'`)
  const { differences } = await verifyTheirs()
  expect(differences.find(({ kind }) => kind === 'events')?.note).toBe(
    '2 missing, 1 set aside as dead letters, 1 older than the outbox',
  )
})

test('a stream that ends before its position, bytes without an entry that waits, and two groups at once', async () => {
  const [{ partition }] = await lab.sql<[{ partition: string }]>`
    select partition from positions where partition like 'live-%' order by partition limit 1`
  await lab.sql`update positions set position = '5-0', lease_until = now() + interval '1 minute' where partition = ${partition}`
  await lab.redis.hset(`sluice:{${partition}}:backlog`, 'total', '12')
  const before = await verifyTheirs()
  expect(before.differences.map(({ kind, name }) => [kind, name])).toEqual([
    ['redis', partition],
    ['redis', partition],
  ])
  await lab.redis.xadd(streamKey(partition), '5-1', 'd', '')
  await lab.redis.del(`sluice:{${partition}}:backlog`)
  await lab.stopShipping()
  await lab.sql`insert into outbox (events, event_count, business_ids, contact_ids, changed, group_id)
    select '', 0, '{}', '{}', '{}', gen_random_uuid() from generate_series(1, 2)`
  expect((await verifyTheirs()).differences.map(({ kind }) => kind)).toEqual(['groups'])
  await lab.sql`delete from outbox where group_id is not null`
  lab.startShipping()
})
