/** The history of a segment, whatever part of it ClickHouse has, against a plain list of the same changes. */
import fc from 'fast-check'
import { pino } from 'pino'
import { uuidv7 } from 'uuidv7'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Cause, SegmentChangeRow } from '../../src/outbox/segment-change-row.ts'
import type { PageQuery } from '../../src/segments/read-members.ts'
import { type SegmentChange, readChanges } from '../../src/segments/read-changes.ts'
import { readHistory } from '../../src/segments/read-history.ts'
import { readMembersAt } from '../../src/segments/read-members-at.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { runs } from '../support/runs.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { type TestSegment, insertSegment } from './segments-support.ts'
import { useOpened } from '../support/use-opened.ts'

const DAY = 86_400_000
const T0 = Date.UTC(2026, 2, 1, 9, 30)
const log = pino({ level: 'silent' })

const stack = useOpened(openStack)
let businessId: string
let segment: TestSegment
beforeEach(renew)

async function renew(): Promise<void> {
  ;({ businessId } = await createBusiness(stack.sql))
  segment = await insertSegment(stack.sql, businessId, { tag: 'vip', operator: 'has' })
}

const rowOf = (contact: string, at: number, entered: boolean, cause: Cause = 'live'): SegmentChangeRow => ({
  business_id: businessId,
  segment_id: segment.segmentId,
  contact_id: contact,
  change_id: uuidv7(),
  at_ms: at,
  entered: entered ? 1 : 0,
  cause,
})

/** Inserts rows into ClickHouse as the shipper does. */
const ship = (rows: SegmentChangeRow[]) =>
  stack.clickhouse.insert({ table: 'segment_changes', values: rows, format: 'JSONEachRow' })

/** Inserts rows into the outbox as a save does. */
async function keep(rows: SegmentChangeRow[]): Promise<void> {
  await stack.sql`
    insert into outbox (events, event_count, business_ids, contact_ids, changed, segment_changes)
    values ('', 0, '{}', '{}', '{}', ${rows.map((row) => JSON.stringify(row)).join('\n')})`
}

const deps = () => ({ sql: stack.sql, clickhouse: stack.clickhouse, log })
const id = () => ({ businessId, segmentId: segment.segmentId })
const ALWAYS = { from: 0, to: Number.MAX_SAFE_INTEGER }

async function everyPage<Page extends { nextCursor: string | null }, Entry>(
  read: (query: PageQuery) => Promise<Page | string>,
  entriesOf: (page: Page) => Entry[],
  limit: number,
): Promise<Entry[]> {
  const entries: Entry[] = []
  let cursor: string | null = null
  do {
    const page: Page | string = await read({ ...id(), limit, cursor })
    if (typeof page === 'string') throw new Error(page)
    expect(entriesOf(page).length).toBeLessThanOrEqual(limit)
    entries.push(...entriesOf(page))
    cursor = page.nextCursor
  } while (cursor !== null)
  return entries
}
const changes = (limit = 100, range = ALWAYS) =>
  everyPage(
    (query) => readChanges(deps(), { ...query, ...range }),
    (page) => page.changes,
    limit,
  )
const membersAt = (at: number, limit = 100) =>
  everyPage(
    (query) => readMembersAt(deps(), { ...query, at }),
    (page) => page.members,
    limit,
  )

const shown = ({ contact_id, at_ms, entered, cause }: SegmentChangeRow): SegmentChange => ({
  contactId: contact_id,
  change: entered === 1 ? 'entered' : 'left',
  at: new Date(at_ms).toISOString(),
  cause,
})
const newestFirst = (a: SegmentChangeRow, b: SegmentChangeRow) =>
  b.at_ms - a.at_ms || (a.change_id > b.change_id ? -1 : 1)

/** Contacts that enter and leave, and where each change is stored: in ClickHouse, in the outbox, or in both. */
const worlds = fc.record({
  moves: fc.array(
    fc.record({
      contact: fc.nat(5),
      /** Several changes at one instant, and changes on several days. */
      step: fc.constantFrom(0, 1, DAY / 3, DAY),
      place: fc.constantFrom('shipped', 'kept', 'both'),
    }),
    { maxLength: 25 },
  ),
  limit: fc.integer({ min: 1, max: 9 }),
})

test('is what happened, wherever it is', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async ({ moves, limit }) => {
      await renew()
      const contacts = Array.from({ length: 6 }, () => crypto.randomUUID())
      const inside = new Set<string>()
      let at = T0
      const rows = moves.map(({ contact, step, place }) => {
        const one = contacts[contact]!
        at += step
        const row = rowOf(one, at, !inside.has(one), 'time')
        if (!inside.delete(one)) inside.add(one)
        return { row, place }
      })
      const all = rows.map(({ row }) => row)
      await ship(rows.filter(({ place }) => place !== 'kept').map(({ row }) => row))
      for (const { row, place } of rows) if (place !== 'shipped') await keep([row])

      expect(await changes(limit)).toEqual(all.toSorted(newestFirst).map(shown))
      const [from, to] = [T0 + DAY, T0 + 2 * DAY]
      const within = all.filter(({ at_ms }) => at_ms >= from && at_ms < to)
      expect(await changes(limit, { from, to })).toEqual(within.toSorted(newestFirst).map(shown))
      for (const instant of [T0 - 1, T0 + DAY, at])
        expect(await membersAt(instant, limit)).toEqual(expectedMembers(all, instant))
      const days = await readHistory(deps(), { ...id(), from: T0 + DAY, to: at + DAY })
      expect(days).toEqual(expectedDays(all, T0 + DAY, at + DAY))
    }),
    { numRuns: runs(7) },
  )
})

function expectedMembers(rows: SegmentChangeRow[], instant: number) {
  const last = new Map<string, SegmentChangeRow>()
  for (const row of rows) if (row.at_ms <= instant) last.set(row.contact_id, row)
  return [...last.values()]
    .filter(({ entered }) => entered === 1)
    .toSorted(newestFirst)
    .map(({ contact_id, at_ms, cause }) => ({
      contactId: contact_id,
      enteredAt: new Date(at_ms).toISOString(),
      cause,
    }))
}

function expectedDays(rows: SegmentChangeRow[], from: number, to: number) {
  const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)
  const days = []
  for (let at = from; dayOf(at) <= dayOf(to); at += DAY) {
    const ofDay = rows.filter(({ at_ms }) => dayOf(at_ms) === dayOf(at))
    const until = rows.filter(({ at_ms }) => dayOf(at_ms) <= dayOf(at))
    const count = (some: SegmentChangeRow[], entered: number) => some.filter((row) => row.entered === entered).length
    const members = count(until, 1) - count(until, 0)
    days.push({ day: dayOf(at), entered: count(ofDay, 1), left: count(ofDay, 0), members })
  }
  return days
}

describe('when a person was erased', () => {
  test('the changes stay, without the person', async () => {
    const [gone, other] = [crypto.randomUUID(), crypto.randomUUID()]
    await ship([rowOf(gone, T0, true), rowOf(other, T0 + 1, true)])
    await keep([rowOf(gone, T0 + 2, false, 'erasure')])
    await stack.sql`insert into erasures (business_id, contact_id, erased_as) values (${businessId}, ${gone}, ${gone})`
    expect((await changes()).map(({ contactId, change }) => [contactId, change])).toEqual([
      [null, 'left'],
      [other, 'entered'],
      [null, 'entered'],
    ])
    expect((await membersAt(T0 + 1)).map(({ contactId }) => contactId)).toEqual([other, null])
    expect((await membersAt(T0 + 2)).map(({ contactId }) => contactId)).toEqual([other])
    expect(await readHistory(deps(), { ...id(), from: T0, to: T0 })).toEqual([
      { day: '2026-03-01', entered: 2, left: 1, members: 1 },
    ])
  })
})

test('changes of other segments and businesses are left out', async () => {
  const mine = rowOf(crypto.randomUUID(), T0, true)
  await keep([mine, { ...rowOf(crypto.randomUUID(), T0, true), segment_id: crypto.randomUUID() }])
  await ship([{ ...rowOf(crypto.randomUUID(), T0, true), business_id: crypto.randomUUID() }])
  expect(await changes()).toEqual([shown(mine)])
})

test('is unavailable while ClickHouse is away, and while more waits to be shipped than is read', async () => {
  const away = connectClickHouse('http://127.0.0.1:9/none')
  const query = { ...id(), limit: 5, cursor: null }
  const patience = { ms: 200, whileAliveMs: 200 }
  const lost = { ...deps(), clickhouse: away, patience }
  expect(await readChanges(lost, { ...query, ...ALWAYS })).toBe('unavailable')
  expect(await readMembersAt(lost, { ...query, at: T0 })).toBe('unavailable')
  expect(await readHistory(lost, { ...id(), from: T0, to: T0 })).toBe('unavailable')
  await away.close()

  const rows = Array.from({ length: 20_001 }, (_, n) => rowOf(crypto.randomUUID(), T0 + n, true))
  const [last] = rows.splice(-1)
  await keep(rows)
  expect(await readHistory(deps(), { ...id(), from: T0, to: T0 })).toMatchObject([{ entered: 20_000 }])
  await keep([last!])
  expect(await readHistory({ ...deps(), patience }, { ...id(), from: T0, to: T0 })).toBe('unavailable')
  await stack.sql`update outbox set shipped_at = now()`
})

test('waits until what a switch changed is written', async () => {
  await stack.sql`
    update segment_rules set switched_at = ${T0} where business_id = ${businessId} and no = ${segment.no}`
  const read = changes()
  setTimeout(() => void stack.sql`select log_switch_step(${businessId}, ${segment.no}, 10)`.execute(), 300)
  expect(await read).toEqual([])
})

test('a cursor that is not of this list is refused', async () => {
  for (const cursor of ['', 'x', `1_${crypto.randomUUID()}x`]) {
    const query = { ...id(), limit: 5, cursor }
    expect(await readChanges(deps(), { ...query, ...ALWAYS })).toBe('invalid_cursor')
    expect(await readMembersAt(deps(), { ...query, at: T0 })).toBe('invalid_cursor')
  }
})
