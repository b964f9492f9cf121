/** The list of members, page by page. Rows are written as saves and the segment worker write them. */
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { readMembers } from '../../src/segments/read-members.ts'
import { runs } from '../support/runs.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { type TestSegment, insertSegment } from './segments-support.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let businessId: string
let segment: TestSegment
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
  segment = await insertSegment(stack.sql, businessId, { tag: 'vip', operator: 'has' })
})

const T0 = 1_700_000_000_000

interface Row {
  id: string
  since: number
  logged?: boolean
}
async function enter(rows: Row[], no = segment.no): Promise<void> {
  await stack.sql`
    insert into segment_members (business_id, contact_id, segment_no, since, cause, logged)
    select ${businessId}, id, ${no}, since, 'live', coalesce(logged, true)
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as x (id uuid, since bigint, logged boolean)`
}
async function leave(id: string): Promise<void> {
  await stack.sql`
    delete from segment_members where business_id = ${businessId} and contact_id = ${id} and segment_no = ${segment.no}`
}

async function page(cursor: string | null, limit: number) {
  const read = await readMembers(stack.sql, { businessId, segmentId: segment.segmentId, cursor, limit })
  if (read === null) throw new Error('the cursor was refused')
  return read
}
async function walk(limit: number, between: () => Promise<void> = () => Promise.resolve()) {
  const members: { contactId: string | null; enteredAt: string; cause: string }[] = []
  let cursor: string | null = null
  do {
    const read: Awaited<ReturnType<typeof page>> = await page(cursor, limit)
    expect(read.members.length).toBeLessThanOrEqual(limit)
    members.push(...read.members)
    cursor = read.nextCursor
    await between()
  } while (cursor !== null)
  return members
}

const makeRows = (count: number): Row[] =>
  // Several members enter at the same instant.
  Array.from({ length: count }, (_, n) => ({ id: crypto.randomUUID(), since: T0 + Math.floor(n / 3) }))
const newestFirst = (a: Row, b: Row) => b.since - a.since || (a.id > b.id ? -1 : 1)

test('a page after the other is every member, newest entry first', async () => {
  const rows = makeRows(30)
  await enter(rows)
  await enter([{ id: crypto.randomUUID(), since: T0 }], segment.no + 1)
  const expected = rows
    .toSorted(newestFirst)
    .map(({ id, since }) => ({ contactId: id, enteredAt: new Date(since).toISOString(), cause: 'live' }))
  for (const limit of [1, 7, 29, 30, 31]) expect(await walk(limit)).toEqual(expected)
})

test('nobody is left out or twice while members come and go', async () => {
  const rows = makeRows(120)
  await enter(rows)
  const gone = new Set<string>()
  let now = T0 + 1000
  const seen = await walk(7, async () => {
    now += 1
    // Some leave for good, some return at once, and others are new.
    const [leaving, returning] = rows.filter(({ id }) => !gone.has(id)).slice(-20, -18)
    for (const one of [leaving, returning]) {
      if (one === undefined) continue
      await leave(one.id)
      gone.add(one.id)
    }
    await enter([...(returning ? [{ id: returning.id, since: now }] : []), { id: crypto.randomUUID(), since: now }])
  })
  const ids = seen.map(({ contactId }) => contactId)
  expect(new Set(ids).size).toBe(ids.length)
  expect(rows.filter(({ id }) => !gone.has(id) && !ids.includes(id))).toEqual([])
})

describe('while the history of a switch is being written', () => {
  test('members are listed as they will be when it is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(3), { minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 9 }), check),
      { numRuns: runs(30) },
    )
  })

  /** Kinds of members: in both rules, only in the new one, only in the former one, and entered after the switch. */
  async function check(kinds: number[], limit: number): Promise<void> {
    ;({ businessId } = await createBusiness(stack.sql))
    const former = await insertSegment(stack.sql, businessId, { tag: 'vip', operator: 'has' })
    segment = await insertSegment(
      stack.sql,
      businessId,
      { tag: 'other', operator: 'has' },
      'building',
      former.segmentId,
    )
    const people = kinds.map((kind, n) => ({ id: crypto.randomUUID(), kind, since: T0 + Math.floor(n / 2) }))
    const having = (...wanted: number[]) => people.filter(({ kind }) => wanted.includes(kind))
    await enter(having(0, 2), former.no)
    await enter(having(0, 1).map(({ id }) => ({ id, since: T0 - 5, logged: false })))
    const switchedAt = T0 + 10
    await stack.sql`update segment_rules set state = 'retired' where business_id = ${businessId} and no = ${former.no}`
    await stack.sql`
      update segment_rules set state = 'current', switched_at = ${switchedAt}, replaces = ${former.no}
      where business_id = ${businessId} and no = ${segment.no}`
    await enter(having(3))
    const expected = [...having(0, 3), ...having(1).map((one) => ({ ...one, since: switchedAt }))]
      .toSorted(newestFirst)
      .map(({ id, since, kind }) => ({
        contactId: id,
        enteredAt: new Date(since).toISOString(),
        cause: kind === 1 ? 'rule' : 'live',
      }))
    const write = () => stack.sql`select log_switch_step(${businessId}, ${segment.no}, 2)`
    expect(await walk(limit)).toEqual(expected)
    expect(await walk(limit, async () => void (await write()))).toEqual(expected)
    const [{ entries }] = await stack.sql<[{ entries: number }]>`
      select count(*)::int as entries from unnest(${`{${people.map(({ id }) => id).join(',')}}`}::uuid[]) as id
      cross join lateral list_memberships(${businessId}, id) m
      where m.segment_id = ${segment.segmentId}`
    expect(entries).toBe(expected.length)
  }
})

test('a cursor that is not of this list is refused, and what has no rule in force is empty', async () => {
  for (const cursor of ['', 'x', `1_${crypto.randomUUID()}x`, `${'9'.repeat(16)}_${crypto.randomUUID()}`])
    expect(await readMembers(stack.sql, { businessId, segmentId: segment.segmentId, cursor, limit: 1 })).toBeNull()
  const building = await insertSegment(stack.sql, businessId, { tag: 'x', operator: 'has' }, 'building')
  await enter(makeRows(3), building.no)
  for (const segmentId of [building.segmentId, crypto.randomUUID()])
    expect(await readMembers(stack.sql, { businessId, segmentId, cursor: null, limit: 5 })).toEqual({
      members: [],
      nextCursor: null,
    })
})
