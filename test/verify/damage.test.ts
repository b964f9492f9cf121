// @long
/** Each kind of damage is found, named and permanently repaired: all kinds at once, each in a business of its own. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertEvents } from '../../src/timeline/shipping/insert-events.ts'
import { encodeTimelineRow, type TimelineRow } from '../../src/outbox/timeline-row.ts'
import { NOW } from '../support/facts.ts'
import {
  makePeople,
  openVerifyLab,
  type People,
  recordedEvents,
  type VerifyResult,
  type VerifyLab,
} from './verify-lab.ts'

interface Damage {
  what: string
  done(people: People): Promise<unknown>
  /** Number of differences by kind. */
  found: Record<string, number>
}

let lab: VerifyLab
const verdicts: { healthy?: VerifyResult; damaged?: VerifyResult; repaired?: VerifyResult; after?: VerifyResult } = {}
const businesses = new Map<string, People>()

beforeAll(async () => {
  lab = await openVerifyLab()
  for (const { what } of DAMAGE) businesses.set(what, await makePeople(lab))
  await lab.shipped()
  // One stands for all: they are made alike.
  verdicts.healthy = await lab.verify('--business', businesses.get('none')!.businessId)
  for (const { what, done } of DAMAGE) await done(businesses.get(what)!)
  verdicts.damaged = await lab.verify()
  verdicts.repaired = await lab.verify('--repair')
  verdicts.after = await lab.verify()
})
afterAll(() => lab?.close())

const annsLessons = async (people: People) =>
  (await recordedEvents(lab, people)).filter(({ contact_id, event }) => contact_id === people.ann && event === 'lesson')

const insert = (rows: TimelineRow[]) => insertEvents(lab.clickhouse, rows.map(encodeTimelineRow), crypto.randomUUID())

/** Replaces columns of the current version of these rows, and leaves no other version to be merged with it. */
async function replace(table: string, where: string, columns: string): Promise<void> {
  await lab.damage(
    `create table one engine = Memory as select * replace (${columns}) from ${table} final where ${where}`,
  )
  await lab.damage(`alter table ${table} delete where ${where}`)
  await lab.damage(`insert into ${table} select * from one`)
  await lab.damage('drop table one sync')
}

const resnap = ({ ann }: People, columns: string) => replace('contact_snapshots', `contact_id = '${ann}'`, columns)
const rebrowse = ({ browsers }: People, columns: string) =>
  replace('visitors', `visitor_id = '${browsers.ann}'`, columns)

/** Deletes all rows of the business from these tables. */
async function clear({ businessId }: People, ...tables: string[]): Promise<void> {
  for (const table of tables) await lab.damage(`alter table ${table} delete where business_id = '${businessId}'`)
}

const DAMAGE: Damage[] = [
  { what: 'none', done: () => Promise.resolve(), found: {} },
  {
    what: 'all events lost',
    done: (people) => clear(people, 'events'),
    found: { events: 4, revenue: 2, orders: 1 },
  },
  { what: 'all statistics lost', done: (people) => clear(people, 'event_statistics'), found: { statistics: 4 } },
  {
    what: 'all snapshots and redirects lost',
    done: (people) => clear(people, 'contact_snapshots', 'contact_redirects'),
    found: { contact: 3, merge: 1, events: 2, statistics: 2, erasure: 1 },
  },
  ...['visitors', 'visitor_links', 'visitor_touches'].map((table) => ({
    what: `all browsers lost in ${table}`,
    done: (people: People) => clear(people, table),
    found: { visitor: 2 },
  })),
  {
    what: 'an event deleted in ClickHouse',
    done: ({ ann }) => lab.damage(`alter table events delete where contact_id = '${ann}' and event = 'refund'`),
    found: { events: 1, revenue: 1 },
  },
  {
    what: 'an event deleted with its statistics',
    done: async ({ bob }) => {
      await lab.damage(`alter table events delete where contact_id = '${bob}'`)
      await lab.damage(`alter table event_statistics delete where contact_id = '${bob}'`)
    },
    found: { events: 1, statistics: 1 },
  },
  {
    what: 'a doubled event',
    done: async (people) => insert((await annsLessons(people)).slice(0, 1)),
    found: { doubled: 1, statistics: 1 },
  },
  {
    what: 'a doubled event that the outbox does not hold any more',
    done: async (people) => {
      await insert((await annsLessons(people)).slice(0, 1))
      await lab.sql`delete from outbox where ${people.businessId}::uuid = any (business_ids)`
    },
    found: { doubled: 1, statistics: 1 },
  },
  {
    what: 'an event counted otherwise in ClickHouse',
    done: ({ ann }) =>
      lab.damage(`alter table events update counted = 77 where contact_id = '${ann}' and event = 'refund'`),
    found: { revenue: 1 },
  },
  {
    what: 'an event that moved in time',
    done: async (people) => {
      const [lesson] = await annsLessons(people)
      await lab.damage(`alter table events delete where event_id = '${lesson?.event_id}'`)
      await lab.damage(`alter table event_statistics delete where contact_id = '${people.ann}' and event = 'lesson'`)
      await insert([{ ...lesson!, occurred_ms: 5 }])
    },
    found: { events: 1, statistics: 1 },
  },
  {
    what: 'lost statistics',
    done: ({ ann }) => lab.damage(`alter table event_statistics delete where contact_id = '${ann}'`),
    found: { statistics: 3 },
  },
  {
    what: 'doubled statistics',
    done: ({ ann }) =>
      lab.damage(`insert into event_statistics select * from event_statistics where contact_id = '${ann}'
        and event = 'lesson' settings insert_deduplication_token = '${crypto.randomUUID()}'`),
    found: { statistics: 1 },
  },
  {
    what: 'a snapshot that stayed behind',
    done: (people) => resnap(people, "0 as revision, '' as stage"),
    found: { contact: 1 },
  },
  {
    what: 'a snapshot of the same revision with another content',
    done: ({ ann }) => lab.damage(`alter table contact_snapshots update tags = ['vip'] where contact_id = '${ann}'`),
    found: { contact: 1 },
  },
  ...["emails = ['other@x.io']", "phones = ['1']", "platform_customer_ids = ['1']"].map((change) => ({
    what: `a snapshot of the same revision with ${change}`,
    done: ({ ann }: People) => lab.damage(`alter table contact_snapshots update ${change} where contact_id = '${ann}'`),
    found: { contact: 1 },
  })),
  {
    what: 'a snapshot that is ahead of Postgres',
    done: (people) => resnap(people, "1000 as revision, 'Advocacy' as stage"),
    found: { contact: 1 },
  },
  {
    what: 'a lost snapshot',
    done: ({ ann }) => lab.damage(`alter table contact_snapshots delete where contact_id = '${ann}'`),
    found: { contact: 1 },
  },
  {
    what: 'a merge that ClickHouse does not know',
    done: ({ bobBefore }) => lab.damage(`alter table contact_redirects delete where contact_id = '${bobBefore}'`),
    // Each of the two contacts shows its own data, in the timeline and in the statistics.
    found: { merge: 1, events: 2, statistics: 2 },
  },
  ...['visitors', 'visitor_links', 'visitor_touches'].map((table) => ({
    what: `a browser that is lost in ${table}`,
    done: ({ browsers }: People) => lab.damage(`alter table ${table} delete where visitor_id = '${browsers.ann}'`),
    found: { visitor: 1 },
  })),
  {
    what: 'a browser that stayed behind',
    done: (people) => rebrowse(people, 'revision - 2 as revision'),
    found: { visitor: 1 },
  },
  {
    what: 'a browser that is ahead of Postgres',
    done: (people) => rebrowse(people, 'revision + 100001 as revision'),
    found: { visitor: 1 },
  },
  {
    what: 'an erased person who came back',
    done: async (people) => {
      const [lesson] = await annsLessons(people)
      await insert([{ ...lesson!, contact_id: people.eve, event_id: crypto.randomUUID() }])
    },
    found: { erasure: 1 },
  },
  {
    what: 'what an erased person captured, there again',
    done: ({ businessId, browsers }) =>
      lab.damage(`insert into web_events (business_id, visitor_id, hit_id, occurred_ms)
        values ('${businessId}', '${browsers.eve}', 'late', ${NOW})`),
    found: { erasure: 1 },
  },
  {
    what: 'what brought an erased person, there again',
    done: async ({ businessId, browsers }) => {
      // The deletion mark would delete the new row as well.
      await lab.damage(`alter table visitor_touches delete where visitor_id = '${browsers.eve}'`)
      await lab.damage(`insert into visitor_touches (business_id, visitor_id, revision)
        values ('${businessId}', '${browsers.eve}', 1)`)
    },
    found: { erasure: 1 },
  },
  {
    what: 'an erased person who shows, as the mark is lost',
    done: ({ eve }) => lab.damage(`alter table contact_redirects delete where contact_id = '${eve}'`),
    found: { erasure: 1 },
  },
  {
    what: 'an erased person who is in the outbox again',
    done: ({ businessId, eve }) => lab.sql`
      insert into outbox (events, event_count, business_ids, contact_ids, changed, shipped_at)
      values ('', 0, array[${businessId}::uuid], array[${eve}::uuid], '{true}', now())`,
    found: { erasure: 1 },
  },
]

/** Returns the differences found in the business of this damage, by kind. */
function kindsIn(result: VerifyResult | undefined, what: string): Record<string, number> {
  const found = result?.differences.filter(({ businessId }) => businessId === businesses.get(what)?.businessId) ?? []
  return Object.fromEntries([...Map.groupBy(found, ({ kind }) => kind)].map(([kind, all]) => [kind, all.length]))
}

test('before anything is damaged, all agrees', () => {
  expect(verdicts.healthy).toMatchObject({ exitCode: 0, agree: true, notCompared: 0, differences: [] })
  expect(verdicts.healthy?.contacts).toBe(3)
})

test.each(DAMAGE)('found and repaired: $what', ({ what, found }) => {
  expect(kindsIn(verdicts.damaged, what)).toEqual(found)
  expect(kindsIn(verdicts.repaired, what)).toEqual({})
  expect(kindsIn(verdicts.after, what)).toEqual({})
})

test('nothing else is found, and the last verdict says so', () => {
  expect(verdicts.damaged).toMatchObject({ exitCode: 1, agree: false, notCompared: 0 })
  expect(verdicts.damaged?.differences.filter(({ businessId }) => businessId === null)).toEqual([])
  expect(verdicts.repaired).toMatchObject({ exitCode: 0, agree: true, differences: [] })
  expect(verdicts.repaired?.repaired).toMatchObject({ copies: 2, erasures: 6, tables: 0 })
  expect(verdicts.after).toMatchObject({ exitCode: 0, agree: true, differences: [] })
})

test('the result says what differs, and how', () => {
  const find = (what: string, kind: string) =>
    verdicts.damaged?.differences.find(
      (one) => one.businessId === businesses.get(what)?.businessId && one.kind === kind,
    )
  const deleted = find('an event deleted in ClickHouse', 'events')
  expect(deleted).toMatchObject({
    contactId: businesses.get('an event deleted in ClickHouse')?.ann,
    name: 'refund',
    postgres: 'once, 2026-01-01T00:00:09.000Z to 2026-01-01T00:00:09.000Z',
    clickhouse: null,
    note: '1 missing, 1 of them still in the outbox',
  })
  expect(deleted?.eventIds).toHaveLength(1)
  expect(find('an event deleted in ClickHouse', 'revenue')).toMatchObject({
    name: 'USD',
    postgres: '40',
    clickhouse: '49.9',
  })
  expect(find('a snapshot that stayed behind', 'contact')?.note).toBe('the snapshot is old')
})
