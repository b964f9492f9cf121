/** `perSecond` and `dailyBudget` of a channel hold across all workers. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { storeSettings } from '../../src/businesses/businesses.ts'
import { followBusinessZone } from '../../src/campaigns/engine/follow-business-zone.ts'
import { explainEnrolments } from '../../src/campaigns/explain-enrolments.ts'
import { releaseHeld } from '../../src/messages/channels/release-held.ts'
import { saveChannel } from '../../src/messages/channels/save-channel.ts'
import { nextLocalTime } from '../../src/rules/campaigns/local-time.ts'
import { type Sql, connectPostgres } from '../../src/stores/postgres.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { LOOPBACK_GUARD } from '../deliveries/delivery-lab.ts'
import { NOW, type Pipeline, openPipeline } from '../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { ACTOR, DAY, type Engine, HOUR, type Shop, openEngine, openShop } from './engine-lab.ts'

let stack: Stack
let otherSql: Sql
let pipeline: Pipeline
let engines: Engine[]
let engine: Engine
let shop: Shop
let template: string
beforeAll(async () => {
  stack = await openStack()
  otherSql = connectPostgres(stack.databaseUrl)
  pipeline = await openPipeline(stack.sql)
  engine = openEngine(stack)
  engines = [engine, openEngine({ sql: otherSql })]
})
afterAll(async () => {
  for (const one of engines) await one.close()
  await otherSql.end()
  await stack.close()
})
beforeEach(() => openAt(NOW))

async function openAt(now: number, timezone = 'UTC'): Promise<void> {
  const { businessId } = await createBusiness(stack.sql, { timezone })
  for (const { clock } of engines) clock.now = now
  shop = openShop(stack, engine, pipeline, businessId)
  template = await shop.template()
}

const send = (id: string, more: object = {}) => ({ id, type: 'send', channel: 'email', template, ...more })

async function limit(limits: { perSecond?: number; dailyBudget?: number }, channel: 'email' | 'sms' = 'email') {
  const key = { businessId: shop.businessId, channel, actor: ACTOR }
  const deps = { sql: stack.sql, guard: LOOPBACK_GUARD, secretsKey: undefined, now: engine.deps.now }
  const saved = await saveChannel(deps, key, () => ({ provider: 'log', ...limits }))
  expect(saved.kind).toBe('saved')
}

/** Signs up people who have opted in, which enrols them. Returns the last one. */
async function signUp(many: number): Promise<string> {
  let contactId = ''
  for (let n = 0; n < many; n++) {
    const identity = { email: `p${n}@x.io` }
    contactId = ((await pipeline.apply(shop.live('seen', identity, engine.clock.now)))[0] as TrackAnswer).contactId
    await shop.optIn(contactId)
    await pipeline.apply(shop.live('signup', identity, engine.clock.now))
  }
  return contactId
}

const claimed = async () => ((await shop.messages()) as { claimed_at: number }[]).map(({ claimed_at: at }) => at)
const waiting = async () => {
  const rows = await stack.sql<{ id: string }[]>`
    select enrolment_id as id from due_steps where business_id = ${shop.businessId} order by due_at`
  return rows.map(({ id }) => id)
}
const dueAt = async () => (await shop.due()).map(({ due_at }) => due_at)

/** Lets both engines claim at the same time, `lateMs` after each due instant, until nothing is due. */
async function race(lateMs: (round: number) => number): Promise<void> {
  for (let round = 0; ; round++) {
    const [next] = await dueAt()
    if (next === undefined) return
    const now = Math.max(engine.clock.now, next + lateMs(round))
    for (const { clock } of engines) clock.now = now
    const sends = await Promise.all(engines.map((one) => one.claim(8)))
    await Promise.all(engines.map((one, index) => Promise.all(sends[index]!.map((each) => one.send(each)))))
    expect(round).toBeLessThan(1000)
  }
}

const most = (instants: readonly number[], keyOf: (at: number) => string | number) =>
  Math.max(...[...Map.groupBy(instants, keyOf).values()].map(({ length }) => length))
const secondOf = (at: number) => Math.floor(at / 1000)

describe('per second', () => {
  it('two workers that race never send more, and all is sent', async () => {
    await limit({ perSecond: 5 })
    await shop.publish([send('a')])
    await signUp(33)
    await race((round) => (round * 37) % 250)
    const instants = await claimed()
    expect(instants).toHaveLength(33)
    expect(most(instants, secondOf)).toBeLessThanOrEqual(5)
    expect(await shop.enrolments()).toEqual(Array.from({ length: 33 }, () => 'finished'))
    // 33 messages take seven seconds. Workers that start late in a second do not use all of it.
    expect(Math.max(...instants) - NOW).toBeLessThan(14_000)
  })

  it('what has to wait knows when, to the millisecond, and says what for', async () => {
    await limit({ perSecond: 2 })
    const campaignId = await shop.publish([send('a')])
    const contactId = await signUp(5)
    await engine.drain()
    const second = Math.floor(NOW / 1000) * 1000
    expect(await dueAt()).toEqual([1000, 1500, 2000].map((ms) => second + ms))
    const key = { businessId: shop.businessId, campaignId, contactId }
    const [enrolment] = await explainEnrolments(stack.sql, key, { goal: null, limit: 1 })
    expect(enrolment?.waitsFor).toEqual({ type: 'per_second', channel: 'email', perSecond: 2 })
    for (const at of await dueAt()) {
      await engine.drain(at)
      expect((await claimed()).at(-1)).toBe(at)
    }
  })

  it('is of one channel of one business', async () => {
    await limit({ perSecond: 1 }, 'sms')
    const { businessId } = shop
    await openAt(NOW)
    await limit({ perSecond: 1 })
    shop = openShop(stack, engine, pipeline, businessId)
    template = await shop.template()
    await shop.publish([send('a')])
    await signUp(3)
    await engine.drain()
    expect(await claimed()).toHaveLength(3)
  })

  it('holds transactional messages, too', async () => {
    await limit({ perSecond: 1 })
    await shop.publish([send('a', { kind: 'transactional' })])
    await signUp(2)
    await engine.drain()
    expect(await claimed()).toHaveLength(1)
  })

  it('an outage of the workers leaves everybody a place of their own', async () => {
    await limit({ perSecond: 4 })
    await shop.publish([send('a')])
    await signUp(20)
    await engine.drain()
    for (const { clock } of engines) clock.now = NOW + HOUR
    await race(() => 0)
    const instants = await claimed()
    expect(instants).toHaveLength(20)
    expect(most(instants, secondOf)).toBe(4)
    expect(Math.max(...instants) - NOW - HOUR).toBeLessThan(5000)
  })

  it('a first message that waits for its second goes out in quiet hours, and one that waits long does not', async () => {
    const night = Date.parse('2026-11-21T01:00:00.000Z')
    await openAt(night)
    await limit({ perSecond: 1 })
    await shop.publish([send('a')])
    await signUp(2)
    await engine.drain()
    await engine.drain(night + 1000)
    expect(await claimed()).toHaveLength(2)
    await stack.sql`update channel_use set queue_second = queue_second + 100 where business_id = ${shop.businessId}`
    await shop.publish([send('b')], { trigger: 'joined' })
    for (const n of [0, 1]) await pipeline.apply(shop.live('joined', { email: `p${n}@x.io` }, engine.clock.now))
    await engine.drain(night + 1001)
    const [due] = await dueAt()
    expect(due).toBeGreaterThan(night + 61_000)
    await engine.drain(due)
    expect(await dueAt()).toContain(Date.parse('2026-11-21T09:00:00.000Z'))
  })
})

describe('the budget of a day', () => {
  it.each([
    ['of 23 hours', '2027-03-28T00:30:00+01:00', 22.5],
    ['of 25 hours', '2027-10-31T00:30:00+02:00', 24.5],
  ])('two workers that race never send more on a day %s, and the others wait for midnight', async (_, from, hours) => {
    const begins = Date.parse(from)
    await openAt(begins, 'Europe/Berlin')
    await limit({ dailyBudget: 6 })
    await shop.publish([send('a')], { quietHours: null })
    await signUp(15)
    const midnight = begins + hours * HOUR
    for (let round = 0; round < 3; round++) {
      const sends = await Promise.all(engines.map((one) => one.claim(8)))
      await Promise.all(engines.map((one, index) => Promise.all(sends[index]!.map((each) => one.send(each)))))
    }
    for (const one of engines) await one.drain()
    expect(await dueAt()).toEqual(Array.from({ length: 9 }, () => midnight))
    await race(() => 0)
    const instants = await claimed()
    expect(instants).toHaveLength(15)
    const days = Map.groupBy(instants, (at) => new Date(at).toLocaleDateString('sv', { timeZone: 'Europe/Berlin' }))
    expect([...days.values()].map(({ length }) => length)).toEqual([6, 6, 3])
  })

  it('says what it waits for, and holds a first message through quiet hours, too', async () => {
    await limit({ dailyBudget: 1 })
    const campaignId = await shop.publish([send('a')])
    const contactId = await signUp(2)
    await engine.drain()
    const key = { businessId: shop.businessId, campaignId, contactId }
    const [enrolment] = await explainEnrolments(stack.sql, key, { goal: null, limit: 1 })
    const midnight = (Math.floor(NOW / DAY) + 1) * DAY
    expect(enrolment).toMatchObject({
      waitsFor: { type: 'daily_budget', channel: 'email', dailyBudget: 1 },
      nextAt: new Date(midnight).toISOString(),
    })
    await engine.drain(midnight)
    expect(await dueAt()).toEqual([midnight + 9 * HOUR])
    await engine.drain(midnight + 9 * HOUR)
    expect(await claimed()).toHaveLength(2)
  })

  it('holds from the claim after it was set, and no more once it is taken away', async () => {
    await shop.publish([send('a')])
    await limit({ dailyBudget: 1 })
    await signUp(2)
    await limit({})
    await engine.drain()
    expect(await claimed()).toHaveLength(2)
  })
})

describe('limits that are changed', () => {
  const wake = () =>
    releaseHeld(stack.sql, { businessId: shop.businessId, channel: 'email', sender: 'default' }, engine.clock.now)

  it('hold those who wait already: a higher rate lets them go at once, in their order', async () => {
    await limit({ perSecond: 1 })
    await shop.publish([send('a')])
    await signUp(5)
    await engine.drain()
    expect(await claimed()).toHaveLength(1)
    const order = await waiting()
    await limit({ perSecond: 4 })
    await wake()
    const second = Math.floor(NOW / 1000) * 1000
    await engine.drain()
    expect(await dueAt()).toEqual([second + 1000])
    expect(await waiting()).toEqual(order.slice(-1))
  })

  it('a higher budget lets them go on the same day, and only as many', async () => {
    await limit({ dailyBudget: 1 })
    await shop.publish([send('a')])
    await signUp(4)
    await engine.drain()
    await limit({ dailyBudget: 3 })
    await wake()
    await engine.drain()
    const midnight = (Math.floor(NOW / DAY) + 1) * DAY
    expect([(await claimed()).length, await dueAt()]).toEqual([3, [midnight]])
  })

  it('and what waits for something else goes on waiting', async () => {
    await limit({ perSecond: 1 }, 'sms')
    await shop.publish([{ id: 'w', type: 'wait', for: 'P1D' }, send('a')])
    await signUp(1)
    await engine.drain()
    await wake()
    expect(await dueAt()).toEqual([NOW + DAY])
  })
})

describe('another zone of the business', () => {
  const midnightIn = (zone: string) => nextLocalTime(NOW, { time: '00:00' }, zone)
  const zones = ['Asia/Tokyo', 'America/Los_Angeles']
  it.each(zones.flatMap((before) => zones.map((after) => [before, after] as const)))(
    'ends the day at the next midnight of either, and what waits for it then goes on: from %s to %s',
    async (before, after) => {
      await openAt(NOW, before)
      await limit({ dailyBudget: 1 })
      await shop.publish([send('a')], { quietHours: null })
      await signUp(2)
      await engine.drain()
      expect(await dueAt()).toEqual([midnightIn(before)])
      await storeSettings(stack.sql, shop.businessId, { timezone: after })
      await followBusinessZone(engine.deps)
      await engine.drain()
      const midnight = Math.min(midnightIn(before), midnightIn(after))
      expect(await dueAt()).toEqual([midnight])
      await engine.drain(midnight)
      expect(await claimed()).toHaveLength(2)
    },
  )
})
