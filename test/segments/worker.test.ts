/** The work of the segment worker: changes by time, and the members of new or edited rules. */
import { pino } from 'pino'
import { uuidv7 } from 'uuidv7'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buildMembers } from '../../src/segments/build-members.ts'
import { foldSizes } from '../../src/segments/fold-sizes.ts'
import { logSwitched } from '../../src/segments/log-switched.ts'
import { removeRetired } from '../../src/segments/remove-retired.ts'
import { settleTime } from '../../src/rules/segments/membership/settle-time.ts'
import { saveSettled } from '../../src/segments/save-settled.ts'
import type { SegmentDeps } from '../../src/segments/segment-deps.ts'
import { settleDue } from '../../src/segments/settle-due.ts'
import { NOW, type Pipeline, batch, eventFact, openPipeline, track } from '../support/facts.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { type TestSegment, changesOf, insertSegment, membersOf, sizeOf } from './segments-support.ts'
import { useOpened } from '../support/use-opened.ts'

const DAY = 86_400_000
const stack = useOpened(openStack)
let pipeline: Pipeline
let businessId: string
let clock = NOW
let deps: SegmentDeps
beforeAll(async () => {
  pipeline = await openPipeline(stack.sql)
  deps = {
    sql: stack.sql,
    log: pino({ level: 'silent' }),
    config: { leaseMs: 3000 },
    configs: new Map(),
    now: () => clock,
  }
})
beforeEach(async () => {
  clock = NOW
  ;({ businessId } = await createBusiness(stack.sql))
})

const person = (n: number) => ({ email: `p${n}@x.io` })
const visit = (n: number, at = NOW) => track(businessId, eventFact('visit', person(n), { occurredAt: at }))
const insert = (...args: Parameters<typeof insertSegment> extends [unknown, unknown, ...infer Rest] ? Rest : never) =>
  insertSegment(stack.sql, businessId, ...args)
const members = async (segment: TestSegment) => await membersOf(stack.sql, businessId, segment)
const history = async (segment: TestSegment) =>
  (await changesOf(stack.sql, businessId, segment)).map(({ entered, at, cause }) => [entered, at, cause])

async function settleUntil(now: number): Promise<void> {
  clock = now
  while ((await settleDue(deps)) === 'more') continue
}

describe('time', () => {
  it('moves members at their instants, also when it looks late', async () => {
    const recent = await insert({ event: 'visit', metric: 'last', operator: 'within_days', value: 1 })
    const old = await insert({ event: 'visit', metric: 'last', operator: 'older_than_days', value: 2 })
    await pipeline.apply(visit(1))
    await settleUntil(NOW + DAY)
    expect(await members(recent)).toHaveLength(1)
    await settleUntil(NOW + 5 * DAY)
    expect(await history(recent)).toEqual([
      [true, NOW, 'live'],
      [false, NOW + DAY + 1, 'time'],
    ])
    expect(await history(old)).toEqual([[true, NOW + 2 * DAY + 1, 'time']])
    expect(await settleDue(deps)).toBeNull()
  })

  it('moves a contact in and out that it looks at only later', async () => {
    const segment = await insert({ customField: 'trial_end', operator: 'within_next_days', value: 3 })
    const ends = new Date(NOW + 10 * DAY).toISOString()
    await pipeline.apply(track(businessId, eventFact('signup', person(1), { traits: { trial_end: ends } })))
    await settleUntil(NOW + 20 * DAY)
    expect(await history(segment)).toEqual([
      [true, NOW + 7 * DAY, 'time'],
      [false, NOW + 10 * DAY + 1, 'time'],
    ])
  })

  it('is silent about what a batch has fixed', async () => {
    const segment = await insert({ event: 'visit', metric: 'last', operator: 'within_days', value: 1 })
    await pipeline.apply(batch(businessId, [eventFact('visit', person(1))]))
    await pipeline.apply(visit(2))
    await settleUntil(NOW + 3 * DAY)
    const made = (await history(segment)).map(([entered, , cause]) => `${entered ? 'entered' : 'left'} ${cause}`)
    expect(made.slice(0, 2)).toEqual(['entered bulk', 'entered live'])
    expect(made.slice(2).toSorted()).toEqual(['left bulk', 'left time'])
  })

  it('stops for contacts whose business has no segments any more', async () => {
    await insert({ event: 'visit', metric: 'last', operator: 'within_days', value: 1 })
    await pipeline.apply(visit(1))
    await stack.sql`update segment_rules set state = 'retired' where business_id = ${businessId}`
    await stack.sql`update businesses set config_version = config_version + 1 where id = ${businessId}`
    await settleUntil(NOW + 3 * DAY)
    expect(await settleDue(deps)).toBeNull()
  })

  it('meets live events of the same contacts, and loses nothing', async () => {
    const segment = await insert({ event: 'visit', metric: 'last', operator: 'within_days', value: 1 })
    // More than one set.
    const people = Array.from({ length: 700 }, (_, n) => n)
    await pipeline.apply(...people.map((n) => visit(n)))
    const later = NOW + 2 * DAY
    const comeBack = async () => {
      for (const n of people.slice(0, 150)) await pipeline.apply({ ...visit(n, later), receivedAt: later })
    }
    await Promise.all([settleUntil(later), comeBack()])
    await settleUntil(later)
    expect(await members(segment)).toHaveLength(150)
    expect(await history(segment)).toHaveLength(700 + 700 + 150)
    expect(await sizeOf(stack.sql, businessId, segment)).toBe(150)
  })
})

it('a change that raises no version does not conflict with a save that waited for it', async () => {
  const segment = await insert({ event: 'visit', metric: 'last', operator: 'within_days', value: 1 })
  const [answer] = await pipeline.apply(visit(1))
  const contact = { business_id: businessId, id: (answer as { contactId: string }).contactId }
  clock = NOW + 2 * DAY
  let saving: Promise<unknown[]> | undefined
  await stack.sql.begin(async (tx) => {
    await tx`update contacts set revision = revision + 1 where business_id = ${businessId} and id = ${contact.id}`
    saving = saveSettled(
      deps,
      [contact],
      (context, state, { segments }) => {
        if (segments && state.facts) settleTime(context, segments, state, state.facts, clock)
      },
      true,
    )
    await expect.poll(countWaiting).toBe(1)
  })
  expect(await saving).toEqual([contact])
  expect(await members(segment)).toEqual([])
})

async function countWaiting(): Promise<number> {
  const [row] = await stack.sql<[{ waiting: number }]>`
    select count(*) as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return row.waiting
}

async function requestBuild(): Promise<void> {
  await stack.sql`
    insert into segment_builds as b (business_id) values (${businessId})
    on conflict (business_id) do update set epoch = b.epoch + 1, cursor = null, done = 0`
}

async function buildAll(): Promise<void> {
  const signal = new AbortController().signal
  for (let busy = true; busy;)
    busy = [await logSwitched(deps), await buildMembers(deps, signal), await removeRetired(deps)].includes(true)
}

describe('a rule that is new or was edited', () => {
  it('gets the contacts that are there, and then the history', async () => {
    await pipeline.apply(...[1, 2, 3].map((n) => visit(n)))
    const segment = await insert({ event: 'visit', metric: 'last', operator: 'within_days', value: 1 }, 'building')
    await requestBuild()
    await pipeline.apply(visit(4))
    clock = NOW + 50
    await buildAll()
    expect((await members(segment)).map(({ since, cause }) => [since, cause])).toEqual(
      Array.from({ length: 4 }, () => [NOW + 50, 'rule']),
    )
    // The fourth was entered by its save and again by the pass.
    expect(await sizeOf(stack.sql, businessId, segment)).toBe(4)
    expect(await history(segment)).toEqual(Array.from({ length: 4 }, () => [true, NOW + 50, 'rule']))
    await settleUntil(NOW + 2 * DAY)
    expect(await members(segment)).toEqual([])
    expect(await history(segment)).toHaveLength(8)
  })

  it('is built together with others, in several sets of contacts', async () => {
    const people = Array.from({ length: 620 }, (_, n) => n)
    await pipeline.apply(...people.map((n) => visit(n)), ...people.slice(0, 10).map((n) => visit(n)))
    const rules = [1, 2, 3].map((value) => ({ event: 'visit', metric: 'count', operator: 'equals', value }) as const)
    const segments: TestSegment[] = []
    for (const rule of rules) segments.push(await insert(rule, 'building'))
    await requestBuild()
    await buildAll()
    const found = await Promise.all(
      segments.map(async (segment) => [
        (await members(segment)).length,
        await sizeOf(stack.sql, businessId, segment),
        (await history(segment)).length,
      ]),
    )
    expect(found).toEqual([610, 10, 0].map((count) => [count, count, count]))
  })

  it('has its members saved a few at a time, so that calls about the same contacts do not wait for long', async () => {
    const people = Array.from({ length: 600 }, (_, n) => n)
    await pipeline.apply(...people.map((n) => visit(n)))
    const rule = { event: 'visit', metric: 'count', operator: 'exists' } as const
    for (let n = 0; n < 60; n += 1) await insert(rule, 'building')
    await requestBuild()
    // Writing the history would write the members again.
    while (await buildMembers(deps, new AbortController().signal)) continue
    const saves = await stack.sql<{ members: number }[]>`
      select count(*) as members from segment_members where business_id = ${businessId} group by xmin::text`
    const many = saves.map(({ members }) => members)
    // All in two saves would be half of them each.
    expect(many.reduce((sum, members) => sum + members, 0)).toBe(36_000)
    expect(Math.max(...many)).toBeLessThan(36_000 / 4)
  })

  it('follows live events while it is built: entries alone, and entries beside exits and beside rules in force', async () => {
    const inForce = await insert({ event: 'visit', metric: 'count', operator: 'equals', value: 2 })
    const built = await insert({ event: 'visit', metric: 'count', operator: 'between', value: [1, 2] }, 'building')
    const state = async () => [
      (await members(inForce)).length,
      (await members(built)).length,
      await sizeOf(stack.sql, businessId, inForce),
      await sizeOf(stack.sql, businessId, built),
    ]
    await pipeline.apply(visit(1), visit(2), visit(3), visit(3))
    expect(await state()).toEqual([1, 3, 1, 3])
    // The third leaves both, the fourth enters one of them, and the first enters the other.
    await pipeline.apply(visit(3), visit(4), visit(1))
    expect(await state()).toEqual([1, 3, 1, 3])
    expect((await members(built)).map(({ contactId }) => contactId)).toContain((await members(inForce))[0]!.contactId)
    expect(await history(inForce)).toHaveLength(3)
    expect(await history(built)).toEqual([])
  })

  it('takes the place of the former one at once; who is in both stays in since it entered', async () => {
    const former = await insert({ event: 'visit', metric: 'count', operator: 'less_than', value: 3 })
    await pipeline.apply(visit(1), visit(2), visit(2), visit(3), visit(3), visit(3))
    const segment = await insert(
      { event: 'visit', metric: 'count', operator: 'greater_than', value: 1 },
      'building',
      former.segmentId,
    )
    await requestBuild()
    clock = NOW + 50
    await buildAll()
    const contacts = new Map((await members(segment)).map(({ contactId, ...member }) => [contactId, member]))
    expect([...contacts.values()]).toEqual([
      { since: NOW, cause: 'live' },
      { since: NOW + 50, cause: 'rule' },
    ])
    expect((await changesOf(stack.sql, businessId, segment)).filter(({ cause }) => cause === 'rule')).toHaveLength(2)
    expect(await members(former)).toEqual([])
    expect(await sizeOf(stack.sql, businessId, segment)).toBe(2)
    expect(await stack.sql`select no, state, switched_at from segment_rules where business_id = ${businessId}`).toEqual(
      [{ no: segment.no, state: 'current', switched_at: null }],
    )
  })

  it('has a history that adds up when members change between the switch and its record', async () => {
    const former = await insert({ event: 'visit', metric: 'count', operator: 'equals', value: 1 })
    await pipeline.apply(visit(1), visit(2), visit(2), visit(3))
    const segment = await insert(
      { event: 'visit', metric: 'count', operator: 'between', value: [2, 3] },
      'building',
      former.segmentId,
    )
    await requestBuild()
    clock = NOW + 50
    const signal = new AbortController().signal
    while ((await stack.sql`select from segment_builds where business_id = ${businessId}`).length > 0)
      await buildMembers(deps, signal)
    // 1 enters under the new rule, and 2 leaves.
    await pipeline.apply(
      { ...visit(1), receivedAt: NOW + 60 },
      ...[1, 2].map(() => ({ ...visit(2), receivedAt: NOW + 60 })),
    )
    await buildAll()
    const byContact = Map.groupBy(await changesOf(stack.sql, businessId, segment), ({ contactId }) => contactId)
    const changes = [...byContact.values()].map((made) =>
      made.map(({ entered, cause }) => `${entered ? '+' : '-'}${cause}`),
    )
    expect(changes.map((made) => made.join(' ')).toSorted()).toEqual(
      ['+live -rule', '+live -rule +live', '+rule -live'].toSorted(),
    )
    expect(await members(segment)).toHaveLength(1)
    expect(await sizeOf(stack.sql, businessId, segment)).toBe(1)
    expect(await sizeOf(stack.sql, businessId, former)).toBe(0)
  })

  it('that is edited again while it is built ends in the last definition', async () => {
    await pipeline.apply(...Array.from({ length: 20 }, (_, n) => visit(n)))
    const first = await insert({ event: 'visit', metric: 'last', operator: 'exists' }, 'building')
    await requestBuild()
    await buildMembers(deps, new AbortController().signal)
    await stack.sql`update segment_rules set state = 'retired' where no = ${first.no}`
    const last = await insert({ event: 'visit', metric: 'last', operator: 'not_exists' }, 'building', first.segmentId)
    await requestBuild()
    await buildAll()
    expect(await members(last)).toEqual([])
    expect(await members(first)).toEqual([])
    expect(await history(last)).toEqual([])
  })

  it('does not wait for the history of another segment, but for its own', async () => {
    const people = Array.from({ length: 30 }, (_, n) => n)
    await pipeline.apply(...people.map((n) => visit(n)))
    const many = await insert({ event: 'visit', metric: 'last', operator: 'within_days', value: 9 }, 'building')
    await requestBuild()
    const { signal } = new AbortController()
    const state = async ({ segmentId }: TestSegment) =>
      (
        await stack.sql<{ state: string; is_logged: boolean }[]>`
          select state, switched_at is null as is_logged from segment_rules
          where business_id = ${businessId} and segment_id = ${segmentId} order by no`
      ).map(({ state, is_logged }) => `${state}${is_logged ? '' : ', not logged'}`)
    while (await buildMembers(deps, signal)) continue
    expect(await state(many)).toEqual(['current, not logged'])
    const few = await insert({ event: 'visit', metric: 'count', operator: 'greater_than', value: 1 }, 'building')
    await requestBuild()
    while (await buildMembers(deps, signal)) continue
    expect([await state(many), await state(few)]).toEqual([['current, not logged'], ['current, not logged']])
    const none = await insert({ event: 'visit', metric: 'count', operator: 'exists' }, 'building', many.segmentId)
    await requestBuild()
    expect(await buildMembers(deps, signal)).toBe(false)
    expect(await state(many)).toEqual(['current, not logged', 'building'])
    await buildAll()
    expect([await state(many), await state(few)]).toEqual([['current'], ['current']])
    expect([(await members(none)).length, (await members(few)).length]).toEqual([30, 0])
    expect(await history(many)).toHaveLength(30)
  })

  it('is complete though contacts change while it is built', async () => {
    const people = Array.from({ length: 500 }, (_, n) => n)
    await pipeline.apply(...people.map((n) => visit(n)))
    const segment = await insert({ event: 'visit', metric: 'count', operator: 'equals', value: 2 }, 'building')
    await requestBuild()
    const change = async () => {
      for (const n of people.slice(0, 250)) await pipeline.apply(visit(n))
    }
    await Promise.all([buildAll(), change()])
    await buildAll()
    expect(await members(segment)).toHaveLength(250)
    expect(await sizeOf(stack.sql, businessId, segment)).toBe(250)
  })
})

it('rows of sizes are summed up', async () => {
  const segment = { no: 2_000_000_000, segmentId: uuidv7() }
  const rows = Array.from({ length: 100 }, (_, n) => ({ business_id: businessId, segment_no: segment.no, members: n }))
  await stack.sql`insert into segment_sizes ${stack.sql(rows)}`
  await foldSizes(deps)
  expect(await stack.sql`select members from segment_sizes where segment_no = ${segment.no}`).toEqual([
    { members: 4950 },
  ])
})
