// @long
/**
 * Members, clocks and sizes of segments that were altered in Postgres are found, and corrected from the facts of the
 * contacts.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SEGMENT_ANSWERS } from '../../src/admin/verify/check-segment-answers.ts'
import { SEGMENT_MEMBERS } from '../../src/admin/verify/check-members.ts'
import { SEGMENT_SIZE } from '../../src/admin/verify/check-segment-sizes.ts'
import type { WrongMember } from '../../src/admin/verify/compare-members.ts'
import { correctMembers } from '../../src/admin/verify/correct-members.ts'
import { createLogger } from '../../src/log.ts'
import { insertSegment, membersOf, sizeOf, type TestSegment } from '../segments/segments-support.ts'
import { eventFact, track } from '../support/facts.ts'
import { createBusiness } from '../support/stack.ts'
import { openVerifyLab, type VerifyLab } from './verify-lab.ts'

const DAY = 86_400_000
let lab: VerifyLab

interface World {
  businessId: string
  /** Has visited twice, so she is in both segments. */
  ann: string
  /** Has visited once. */
  bob: string
  often: TestSegment
  recent: TestSegment
}

beforeAll(async () => {
  lab = await openVerifyLab()
})
afterAll(() => lab?.close())

async function makeWorld(): Promise<World> {
  const { sql, pipeline } = lab
  const { businessId } = await createBusiness(sql)
  const often = await insertSegment(sql, businessId, {
    event: 'visit',
    metric: 'count',
    operator: 'greater_than',
    value: 1,
  })
  const recent = await insertSegment(sql, businessId, {
    event: 'visit',
    metric: 'last',
    operator: 'within_days',
    value: 3000,
  })
  const at = Date.now() - DAY
  const visit = (name: string, occurredAt: number) =>
    track(businessId, eventFact('visit', { email: `${name}@x.io` }, { occurredAt }))
  const answers = await pipeline.apply(visit('ann', at), visit('ann', at - 1), visit('bob', at))
  const [ann, , bob] = answers as { contactId: string }[]
  await lab.shipped()
  return { businessId, ann: ann!.contactId, bob: bob!.contactId, often, recent }
}

const stateOf = async ({ businessId, often, recent }: World) => ({
  often: (await membersOf(lab.sql, businessId, often)).map(({ contactId }) => contactId).toSorted(),
  recent: (await membersOf(lab.sql, businessId, recent)).map(({ contactId }) => contactId).toSorted(),
  sizes: [await sizeOf(lab.sql, businessId, often), await sizeOf(lab.sql, businessId, recent)],
  due: await lab.sql`select contact_id, due_at from segment_clock where business_id = ${businessId} order by 1`,
})

const verifyTheirs = ({ businessId }: World, ...words: string[]) => lab.verify('--business', businessId, ...words)

test('nothing is found where all is well', async () => {
  const world = await makeWorld()
  expect(await stateOf(world)).toMatchObject({
    often: [world.ann],
    recent: [world.ann, world.bob].toSorted(),
    sizes: [1, 2],
  })
  expect(await verifyTheirs(world)).toMatchObject({ exitCode: 0, agree: true, found: {}, notCompared: 0 })
})

interface Damage {
  what: string
  done(world: World): Promise<unknown>
  found: Record<string, number>
  repaired: Record<string, number>
  example(world: World): Record<string, unknown>
}

const DAMAGE: Damage[] = [
  {
    what: 'a member was deleted',
    done: ({ ann, often }) =>
      lab.sql`delete from segment_members where contact_id = ${ann} and segment_no = ${often.no}`,
    found: { segment_members: 1, segment_size: 1 },
    repaired: { members: 1, sizes: 1 },
    example: ({ ann, often }) => ({ contactId: ann, segmentId: often.segmentId, expected: true, wrong: 'postgres' }),
  },
  {
    what: 'a member was added',
    done: ({ businessId, bob, often }) => lab.sql`
      insert into segment_members (business_id, contact_id, segment_no, since, cause)
      values (${businessId}, ${bob}, ${often.no}, 1, 'live')`,
    found: { segment_members: 1, segment_size: 1 },
    repaired: { members: 1, sizes: 1 },
    example: ({ bob, often }) => ({ contactId: bob, segmentId: often.segmentId, expected: false, wrong: 'postgres' }),
  },
  {
    what: 'a clock was deleted',
    done: ({ ann }) => lab.sql`delete from segment_clock where contact_id = ${ann}`,
    found: { segment_members: 1 },
    repaired: { members: 1, sizes: 0 },
    example: ({ ann, recent }) => ({ contactId: ann, segmentId: recent.segmentId, wrong: 'postgres' }),
  },
  {
    what: 'a clock was set too late',
    done: ({ ann }) => lab.sql`update segment_clock set due_at = due_at + 1 where contact_id = ${ann}`,
    found: { segment_members: 1 },
    repaired: { members: 1, sizes: 0 },
    example: ({ ann, recent }) => ({ contactId: ann, segmentId: recent.segmentId, wrong: 'postgres' }),
  },
  {
    what: 'a size was altered',
    done: ({ recent }) => lab.sql`update segment_sizes set members = members + 5 where segment_no = ${recent.no}`,
    found: { segment_size: 1 },
    repaired: { members: 0, sizes: 1 },
    example: ({ recent }) => ({ contactId: null, segmentId: recent.segmentId, wrong: 'postgres' }),
  },
]

test.each(DAMAGE)('found and repaired: $what', async ({ done, found, repaired, example }) => {
  const world = await makeWorld()
  const before = await stateOf(world)
  await done(world)
  const damaged = await verifyTheirs(world)
  expect(damaged).toMatchObject({ exitCode: 1, agree: false, found })
  expect(damaged.differences[0]).toMatchObject({ businessId: world.businessId, ...example(world) })
  expect(await verifyTheirs(world, '--repair')).toMatchObject({ exitCode: 0, agree: true, repaired })
  expect(await stateOf(world)).toEqual(before)
  expect(await verifyTheirs(world)).toMatchObject({ exitCode: 0, found: {} })
})

describe('the answers of ClickHouse', () => {
  const open = async () => {
    const world = await makeWorld()
    const { businessId } = world
    const windowed = await insertSegment(lab.sql, businessId, {
      event: 'visit',
      metric: 'count',
      withinDays: 3000,
      operator: 'greater_than_or_equal',
      value: 2,
    })
    // As the segment worker would write it.
    await lab.sql`
      insert into segment_members (business_id, contact_id, segment_no, since, cause)
      values (${businessId}, ${world.ann}, ${windowed.no}, 1, 'bulk')`
    await lab.sql`
      insert into segment_sizes (business_id, segment_no, members) values (${businessId}, ${windowed.no}, 1)`
    return { ...world, windowed }
  }

  test('agree where all is well', async () => {
    expect(await verifyTheirs(await open())).toMatchObject({ exitCode: 0, agree: true, found: {}, notCompared: 0 })
  })

  test('differ where the timeline has other statistics, and are repaired', async () => {
    const world = await open()
    const { businessId, bob, often } = world
    await lab.damage(`insert into event_statistics (business_id, contact_id, event, first_ms, last_ms, count)
      select business_id, contact_id, event, min(first_ms), max(last_ms), 7 from event_statistics
      where contact_id = '${bob}' group by business_id, contact_id, event`)
    const damaged = await verifyTheirs(world)
    expect(damaged).toMatchObject({ exitCode: 1, found: { segment_answers: 1 } })
    expect(damaged.differences.find(({ kind }) => kind === 'segment_answers')).toMatchObject({
      businessId,
      contactId: bob,
      segmentId: often.segmentId,
      postgres: 'not a member',
      clickhouse: 'a member',
      wrong: 'clickhouse',
    })
    expect(await verifyTheirs(world, '--repair')).toMatchObject({ exitCode: 0, agree: true })
  })

  test('for a windowed rule show a member that is missing, and one too many; the worker is asked to read both again', async () => {
    const world = await open()
    const { businessId, ann, bob, windowed } = world
    await lab.sql`update segment_members set contact_id = ${bob} where segment_no = ${windowed.no}`
    const damaged = await verifyTheirs(world)
    expect(damaged).toMatchObject({ exitCode: 1, found: { segment_answers: 2 } })
    const shown = damaged.differences.map(({ contactId, postgres, wrong }) => `${contactId} ${postgres} ${wrong}`)
    expect(shown.toSorted()).toEqual([`${ann} not a member postgres`, `${bob} a member postgres`].toSorted())
    // Contacts that wait for the worker cannot be compared until it has processed them.
    expect(await verifyTheirs(world, '--repair')).toMatchObject({ found: {}, notCompared: 2, repaired: { members: 2 } })
    const refreshes = await lab.sql`
      select contact_id from segment_window_refreshes where business_id = ${businessId} order by contact_id`
    expect(refreshes.map(({ contact_id }) => contact_id as string)).toEqual([ann, bob].toSorted())
  })

  test('are not compared while ClickHouse does not have everything', async () => {
    const world = await open()
    const { businessId } = world
    await lab.stopShipping()
    await lab.pipeline.apply(track(businessId, eventFact('visit', { email: 'bob@x.io' })))
    const deps = { ...lab, signal: new AbortController().signal, showStatus: () => undefined }
    const found = []
    for await (const page of SEGMENT_ANSWERS.find(deps, businessId)) found.push(page)
    lab.startShipping()
    await lab.shipped()
    expect(found.flatMap(({ items }) => items)).toEqual([])
    expect(found.map(({ changing }) => changing)).toContain(1)
  })
})

test('a contact that waits for the segment worker is not a difference', async () => {
  const world = await makeWorld()
  await lab.sql`update segment_clock set due_at = 1 where contact_id = ${world.ann}`
  await lab.sql`delete from segment_members where contact_id = ${world.ann}`
  await lab.sql`delete from segment_sizes where business_id = ${world.businessId} and segment_no = ${world.often.no}`
  await lab.sql`update segment_sizes set members = 1 where business_id = ${world.businessId}`
  expect(await verifyTheirs(world)).toMatchObject({
    exitCode: 3,
    found: {},
    uncompared: [{ what: 'segment members', reason: '1 contact waits for the segment worker all the time' }],
  })
})

test('rules that are being built, or whose history is not complete, are left out', async () => {
  const world = await makeWorld()
  const { businessId, ann, often, recent } = world
  await lab.sql`delete from segment_members where contact_id = ${ann}`
  await lab.sql`update segment_rules set state = 'building' where business_id = ${businessId} and no = ${often.no}`
  await lab.sql`update segment_rules set switched_at = 1 where business_id = ${businessId} and no = ${recent.no}`
  expect(await verifyTheirs(world)).toMatchObject({ exitCode: 0, found: {} })
})

test('what has become right meanwhile is not changed by a repair', async () => {
  const world = await makeWorld()
  const before = await stateOf(world)
  const { businessId, ann: contactId, often } = world
  const wrong: WrongMember = { contactId, ...often, expected: false, changesAt: null }
  const log = createLogger({ level: 'silent', name: 'test' })
  const { signal } = new AbortController()
  const deps = { ...lab, writer: lab.sql, log, signal, startedAt: new Date(), showStatus: () => undefined }
  expect(await correctMembers(deps, businessId, [wrong])).toBe(1)
  expect(await stateOf(world)).toEqual(before)
})

test('nothing is found while contacts enter and leave all the time', async () => {
  const { sql, pipeline } = lab
  const { businessId } = await createBusiness(sql)
  for (const value of [1, 3, 5, 7])
    await insertSegment(sql, businessId, { event: 'visit', metric: 'count', operator: 'equals', value })
  const people = Array.from({ length: 30 }, (_, n) => ({ email: `p${n}@x.io` }))
  let looks = 0
  const applyAll = async () => {
    // From the eighth visit on, no contact is a member.
    for (let round = 0; round < 8 || looks < 2; round += 1)
      for (const person of people) await pipeline.apply(track(businessId, eventFact('visit', person)))
  }
  let isOver = false
  const applying = applyAll().finally(() => (isOver = true))
  const deps = { ...lab, signal: new AbortController().signal, showStatus: () => undefined }
  const found: unknown[] = []
  for (; !isOver; looks += 1)
    for (const kind of [SEGMENT_MEMBERS, SEGMENT_ANSWERS, SEGMENT_SIZE])
      for await (const { items } of kind.find(deps, businessId)) found.push(...items)
  await applying
  expect(found).toEqual([])
  expect(looks).toBeGreaterThan(1)
  expect(await sql`select from segment_members where business_id = ${businessId}`).toHaveLength(0)
})
