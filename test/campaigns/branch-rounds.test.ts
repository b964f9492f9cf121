/**
 * Branches that query the timeline take turns, all query the same moment, and are decided by fresh counts of the whole
 * person.
 */
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type BranchDeps, answerBranches } from '../../src/campaigns/engine/branches/answer-branches.ts'
import { createSetSizes } from '../../src/campaigns/engine/branches/set-sizes.ts'
import { createVersionCache } from '../../src/campaigns/engine/claim/version-cache.ts'
import { createPostponed } from '../../src/segments/windows/postponed.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { type World, openWorld } from '../segments/windows-support.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { NOW, eventFact, track } from '../support/facts.ts'
import { createBusiness } from '../support/stack.ts'
import { ANN, type Engine, HOUR, type Shop, openEngine, openShop } from './engine-lab.ts'

let world: World
let engine: Engine
let deps: BranchDeps
const { signal } = new AbortController()
beforeAll(async () => {
  world = await openWorld()
  engine = openEngine(world.stack)
})
afterAll(async () => {
  await engine.close()
  await world.close()
})
beforeEach(async () => {
  const { sql, clickhouse } = world.stack
  await sql`delete from due_steps`
  engine.clock.now = NOW
  const now = () => engine.clock.now
  const log = pino({ level: 'silent' })
  deps = {
    sql,
    clickhouse,
    log,
    config: { leaseMs: 3000 },
    versions: createVersionCache(),
    sizes: createSetSizes(),
    turnMs: 5000,
    now,
  }
})

const BOB = { email: 'bob@x.io' }

async function newShop(): Promise<Shop> {
  const { businessId } = await createBusiness(world.stack.sql)
  return openShop(world.stack, engine, world.pipeline, businessId)
}

const pay = (shop: Shop, identity: object = ANN) =>
  world.pipeline.apply({
    ...track(shop.businessId, eventFact('paid', identity, { occurredAt: engine.clock.now })),
    receivedAt: engine.clock.now,
  })

const count = (value: number) => ({
  event: 'paid',
  metric: 'count',
  operator: 'greater_than_or_equal',
  value,
  withinDays: 1,
})

function branch(template: string, id = '', rule = count(1)) {
  const send = (step: string) => ({ id: `${step}${id}`, type: 'send', channel: 'email', template })
  return { id: `branch${id}`, type: 'branch', rule, steps: [send('yes')], otherwise: [send('no')] }
}

async function signUp(shop: Shop): Promise<void> {
  const [seen] = await world.pipeline.apply(shop.live('seen'))
  await shop.optIn((seen as TrackAnswer).contactId)
  await world.pipeline.apply(shop.live('signup'))
}

/** Ann waits for the timeline. */
async function start(shop: Shop, ...ids: string[]): Promise<void> {
  const template = await shop.template()
  await shop.publish(ids.length === 0 ? [branch(template)] : ids.map((id, n) => branch(template, id, count(n + 1))))
  await signUp(shop)
  await engine.drain()
}

const answer = (postponed = createPostponed()) => answerBranches(deps, postponed, signal)

async function follow(): Promise<void> {
  await world.ship()
  await answer()
  await engine.drain()
}

/** Runs `meanwhile` after the read of the business's data in ClickHouse, and before its result is stored. */
async function afterRead<T>(shop: Shop, meanwhile: () => Promise<unknown>, read: () => Promise<T>): Promise<T> {
  const { clickhouse } = deps
  const query = clickhouse.query.bind(clickhouse)
  clickhouse.query = async (asked: Parameters<typeof query>[0]) => {
    const result = await query(asked)
    if (asked.query.includes(shop.businessId)) await meanwhile()
    return result
  }
  try {
    return await read()
  } finally {
    clickhouse.query = query
  }
}

const rowsOf = (shop: Shop) =>
  world.stack.sql<{ asked: number | null; due_at: number; answers: object | null }[]>`
    select asked_outbox_id as asked, due_at, answers from due_steps where business_id = ${shop.businessId}`

describe('a round', () => {
  it('answers another business too when one has many that asked before', async () => {
    const [many, other] = [await newShop(), await newShop()]
    await start(many)
    await world.stack.sql`
      insert into due_steps (business_id, enrolment_id, contact_id, campaign_id, version, step, began_at, due_at, asked_outbox_id)
      select business_id, gen_random_uuid(), gen_random_uuid(), campaign_id, version, step, began_at, due_at, 0
      from due_steps cross join generate_series(1, 500) where business_id = ${many.businessId}`
    await start(other)
    await world.ship()
    expect(await answer()).toBe(501)
    expect(await rowsOf(other)).toMatchObject([{ asked: null, answers: { at: NOW } }])
    expect((await rowsOf(many)).filter(({ asked }) => asked !== null)).toHaveLength(1)
    expect([await answer(), await answer()]).toEqual([1, 0])
  })

  it('goes on with the other branches of a business when one cannot be read', async () => {
    const shop = await newShop()
    const template = await shop.template()
    const ids = await Promise.all(['1', '2', '3'].map((id) => shop.publish([branch(template, id)])))
    await signUp(shop)
    await engine.drain()
    await world.stack.sql`
      update campaign_versions set definition = jsonb_set(definition, '{steps,0,rule}', '{"segment":"gone","operator":"is_member"}')
      where campaign_id = ${ids[1]!}`
    await world.ship()
    const postponed = createPostponed()
    expect([await answer(postponed), await answer(postponed)]).toEqual([2, 0])
    expect(postponed.keys()).toEqual([`${shop.businessId} ${ids[1]!} 1 branch2`])
    await engine.drain()
    expect((await shop.states()).toSorted()).toEqual(['no1 sent', 'no3 sent'])
  })

  it('does not wait for a slow rule of one business, and gives that up for now', async () => {
    const [slow, other] = [await newShop(), await newShop()]
    await start(slow)
    await start(other)
    await world.ship()
    const { clickhouse } = deps
    const query = clickhouse.query.bind(clickhouse)
    clickhouse.query = async (asked: Parameters<typeof query>[0]) => {
      if (asked.query.includes(slow.businessId))
        await new Promise((_, reject) => asked.abort_signal?.addEventListener('abort', () => reject(new Error('slow'))))
      return await query(asked)
    }
    const postponed = createPostponed()
    try {
      const round = answer(postponed)
      await vi.waitFor(async () => expect(await rowsOf(other)).toMatchObject([{ asked: null }]), PATIENCE_MS)
      expect([postponed.keys(), await rowsOf(slow)]).toMatchObject([[], [{ answers: null }]])
      expect(await round).toBe(1)
    } finally {
      clickhouse.query = query
    }
    expect(postponed.failures(postponed.keys()[0]!)).toBe(1)
    expect(await answer()).toBe(1)
  })
})

describe('a set that cannot be answered', () => {
  /** Makes `many` contacts wait at the branch, all with the same row of the outbox. Returns the contacts. */
  async function startMany(shop: Shop, many: number): Promise<string[]> {
    await start(shop)
    await world.stack.sql`
      insert into due_steps (business_id, enrolment_id, contact_id, campaign_id, version, step, began_at, due_at, asked_outbox_id)
      select business_id, gen_random_uuid(), gen_random_uuid(), campaign_id, version, step, began_at, due_at, asked_outbox_id
      from due_steps cross join generate_series(2, ${many}::integer) where business_id = ${shop.businessId}`
    await world.ship()
    const rows = await world.stack.sql<{ id: string }[]>`
      select contact_id as id from due_steps where business_id = ${shop.businessId}`
    return rows.map(({ id }) => id)
  }
  /** Lets the queries fail whose contacts `isTooMuch` refuses. Returns the contacts of each query, in order. */
  function refuse(
    shop: Shop,
    isTooMuch: (ids: ReadonlySet<string>) => boolean,
    fail: (abort: AbortSignal | undefined) => Promise<unknown>,
  ): { asked: ReadonlySet<string>[]; stop(): void } {
    const { clickhouse } = deps
    const query = clickhouse.query.bind(clickhouse)
    const asked: ReadonlySet<string>[] = []
    clickhouse.query = async (one: Parameters<typeof query>[0]) => {
      const ids = new Set(one.query.match(/[0-9a-f]{8}-[0-9a-f-]{27}/g))
      ids.delete(shop.businessId)
      if (ids.size > 0) asked.push(ids)
      if (isTooMuch(ids)) await fail(one.abort_signal)
      return await query(one)
    }
    return { asked, stop: () => void (clickhouse.query = query) }
  }
  const refused = () => Promise.reject(new Error('Memory limit (for query) exceeded'))
  const slow = (abort?: AbortSignal) =>
    new Promise((_, reject) => abort?.addEventListener('abort', () => reject(new Error('slow'))))

  it.each([
    ['takes too long', slow],
    ['needs too much memory', refused],
  ])('because it %s is answered for fewer, after short pauses', async (_, fail) => {
    const shop = await newShop()
    await startMany(shop, 5)
    Object.assign(deps, { sizes: createSetSizes(5), turnMs: 2000 })
    const { asked, stop } = refuse(shop, (ids) => ids.size > 2, fail)
    let answered = 0
    const failures = []
    let clock = 0
    const postponed = createPostponed(() => clock)
    try {
      for (let rounds = 0; answered < 5 && rounds < 8; rounds += 1) {
        answered += await answer(postponed)
        failures.push(...postponed.keys().map((key) => postponed.failures(key)))
        clock += 60_000
      }
    } finally {
      stop()
    }
    expect(answered).toBe(5)
    expect(asked.slice(0, 3).map(({ size }) => size)).toEqual([5, 3, 2])
    expect(new Set(failures)).toEqual(new Set([1]))
  })

  it('for one contact holds up none of the others at its branch', async () => {
    const shop = await newShop()
    const bad = new Set((await startMany(shop, 4)).slice(0, 2))
    Object.assign(deps, { sizes: createSetSizes(1) })
    const { stop } = refuse(shop, (ids) => [...ids].some((id) => bad.has(id)), refused)
    try {
      let answered = 0
      for (let rounds = 0; rounds < 4; rounds += 1) answered += await answer()
      expect(answered).toBe(2)
    } finally {
      stop()
    }
    const left = await rowsOf(shop)
    expect(left.filter(({ asked }) => asked !== null)).toHaveLength(2)
    // They are queried again.
    for (let rounds = 0; rounds < 2; rounds += 1) await answer()
    expect((await rowsOf(shop)).map(({ asked }) => asked)).toEqual([null, null, null, null])
  })
})

it('a branch that asks again waits for the same row, and the next one for a newer', async () => {
  const shop = await newShop()
  await start(shop, '1', '2')
  const [first] = await rowsOf(shop)
  await pay(shop)
  await engine.drain(NOW + HOUR)
  expect(await rowsOf(shop)).toEqual([{ ...first!, due_at: NOW + 2 * HOUR }])
  await follow()
  expect(await shop.states()).toEqual(['yes1 sent'])
  const [next] = await rowsOf(shop)
  expect(next!.asked).toBeGreaterThan(first!.asked!)
})

describe('what was answered', () => {
  it.each([
    ['merged into another', true],
    ['joined by another', false],
  ])('is asked anew once the person is %s', async (_, isYounger) => {
    const shop = await newShop()
    if (isYounger) await pay(shop, BOB)
    await start(shop)
    if (!isYounger) await pay(shop, BOB)
    await world.ship()
    expect(await answer()).toBe(1)
    for (const one of [ANN, BOB])
      await world.pipeline.apply(track(shop.businessId, eventFact('met', { ...one, platformCustomerId: 'c-1' })))
    expect(await rowsOf(shop)).toMatchObject([{ asked: null, answers: null }])
    await engine.drain()
    expect(await shop.states()).toEqual([])
    await follow()
    expect(await shop.states()).toEqual(['yes sent'])
  })

  it.each([
    ['merged into another', true],
    ['joined by another', false],
  ])('is not taken when it was read before the person is %s', async (_, isYounger) => {
    const shop = await newShop()
    if (isYounger) await pay(shop, BOB)
    await start(shop)
    if (!isYounger) await pay(shop, BOB)
    await world.ship()
    const merge = async () => {
      for (const one of [ANN, BOB])
        await world.pipeline.apply(track(shop.businessId, eventFact('met', { ...one, platformCustomerId: 'c-1' })))
    }
    expect(await afterRead(shop, merge, () => answer())).toBe(0)
    const [row] = await rowsOf(shop)
    expect([row!.answers, row!.asked === null]).toEqual([null, false])
    await follow()
    expect(await shop.states()).toEqual(['yes sent'])
  })

  it.each([
    ['is used for 10 minutes', 600_000, ['no sent']],
    ['is asked anew after them', 600_001, []],
  ])('%s', async (_, later, expected) => {
    const shop = await newShop()
    await start(shop)
    await world.ship()
    expect(await answer()).toBe(1)
    await pay(shop)
    await engine.drain(NOW + later)
    expect(await shop.states()).toEqual(expected)
    await follow()
    expect(await shop.states()).toEqual(expected.length === 0 ? ['yes sent'] : expected)
  })
})
