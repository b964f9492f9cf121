/**
 * Steps that wait for a local time follow the zone of their contact and of their business. They do not overtake steps
 * that were due earlier.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sleep } from '../../src/async/sleep.ts'
import { storeSettings } from '../../src/businesses/businesses.ts'
import { claimDue } from '../../src/campaigns/engine/claim/claim-due.ts'
import { followBusinessZone } from '../../src/campaigns/engine/follow-business-zone.ts'
import { runCampaigns } from '../../src/campaigns/engine/run-campaigns.ts'
import { nextLocalTime } from '../../src/rules/campaigns/local-time.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { type Pipeline, openPipeline } from '../support/facts.ts'
import { fillDue } from '../support/fill-due.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { DAY, type Engine, HOUR, type Shop, isWaiting, openEngine, openShop } from './engine-lab.ts'

let stack: Stack
let pipeline: Pipeline
let engine: Engine
let shop: Shop
beforeAll(async () => {
  stack = await openStack()
  pipeline = await openPipeline(stack.sql)
  engine = openEngine(stack)
  // The wake uses the clock of the database.
  engine.deps.now = Date.now
})
afterAll(async () => {
  await engine.close()
  await stack.close()
})
beforeEach(async () => {
  await stack.sql`delete from due_steps`
  await stack.sql`delete from zone_changes`
  const { businessId } = await createBusiness(stack.sql, { timezone: 'UTC' })
  shop = openShop(stack, engine, pipeline, businessId)
})

interface Row {
  id: string
  contactId: string
  dueAt: number
}

const rows = () => stack.sql<Row[]>`
  select enrolment_id as id, contact_id as "contactId", due_at as "dueAt" from due_steps order by enrolment_id`
const only = async (): Promise<Row> => (await rows())[0]!

/** Enrols contacts that began now to wait for a local time about 12 hours away. */
async function fill(many: number): Promise<{ campaignId: string; began: number }> {
  const began = Date.now()
  const template = await shop.template()
  const steps = [
    { id: 'u', type: 'wait_until', time: timeOf(began + 12 * HOUR) },
    { id: 'a', type: 'send', channel: 'email', template },
  ]
  const campaignId = await shop.publish(steps, { quietHours: null })
  await fillDue(stack.sql, { businessId: shop.businessId, campaignId, step: 'u', many, dueAt: began })
  await drain()
  return { campaignId, began }
}
const timeOf = (at: number): string => new Date(at).toISOString().slice(11, 16)
const dueIn = (began: number, zone: string): number => nextLocalTime(began, { time: timeOf(began + 12 * HOUR) }, zone)
const setZone = (id: string, timezone: string | null) =>
  stack.sql`update contacts set timezone = ${timezone} where business_id = ${shop.businessId} and id = ${id}`
const moveTo = (timezone: string) => storeSettings(stack.sql, shop.businessId, { timezone })
async function drain(): Promise<void> {
  for (let moved = 1; moved > 0;) ({ moved } = await claimDue(engine.deps, 64))
}

describe('another zone of a contact', () => {
  it('has its wait looked at after what was due before', async () => {
    const { began } = await fill(1)
    const { id, contactId } = await only()
    const before = Date.now()
    await setZone(contactId, 'Asia/Tokyo')
    const { dueAt } = await only()
    expect(dueAt).toBeGreaterThanOrEqual(before)
    expect(dueAt).toBeLessThanOrEqual(Date.now())
    await drain()
    expect(await rows()).toEqual([{ id, contactId, dueAt: dueIn(began, 'Asia/Tokyo') }])
  })

  it.each([
    ['is due', 'due_at = 1'],
    ['is being sent', 'claim = gen_random_uuid()'],
    ['is tried again', 'attempts = 1'],
    ['waits for an event', `listens_for = 'paid'`],
    ['is queued by its channel', `held_by = '{"type":"per_second"}'`],
    ['waits for a channel that is paused', `held_by = '{"type":"channel_paused"}'`],
  ])('moves nothing that %s', async (_, change) => {
    await fill(1)
    await stack.sql.unsafe(`update due_steps set ${change}`)
    const before = await rows()
    await setZone(before[0]!.contactId, 'Asia/Tokyo')
    expect(await rows()).toEqual(before)
  })
})

describe('another zone of the business', () => {
  it('has the waits of contacts without a zone looked at, set by set', async () => {
    const { began } = await fill(7)
    const [own] = await rows()
    await setZone(own!.contactId, 'America/Bogota')
    await drain()
    const before = Date.now()
    await moveTo('Asia/Tokyo')
    let sets = 0
    let many = 0
    for (; await followBusinessZone(engine.deps, 3); sets += 1) {
      // The next set waits until this one has been processed.
      expect(await followBusinessZone(engine.deps, 3)).toBe(false)
      const woken = (await rows()).filter(({ dueAt }) => dueAt <= Date.now())
      for (const { dueAt } of woken) expect(dueAt).toBeGreaterThanOrEqual(before)
      many += woken.length
      await drain()
    }
    expect([sets, many]).toEqual([3, 6])
    for (const { id, dueAt } of await rows())
      expect(dueAt).toBe(dueIn(began, id === own!.id ? 'America/Bogota' : 'Asia/Tokyo'))
  })

  it('is the latest one, when it changes again meanwhile', async () => {
    const { began } = await fill(4)
    await moveTo('Asia/Tokyo')
    await followBusinessZone(engine.deps, 2)
    await moveTo('Asia/Kathmandu')
    expect(await followBusinessZone(engine.deps, 2)).toBe(false)
    await drain()
    let sets = 0
    for (; await followBusinessZone(engine.deps, 2); sets += 1) await drain()
    // A full set can be the last one.
    expect(sets).toBe(3)
    await drain()
    for (const { dueAt } of await rows()) expect(dueAt).toBe(dueIn(began, 'Asia/Kathmandu'))
  })

  it('wakes no plain wait', async () => {
    const template = await shop.template()
    const inner = [{ id: 'u', type: 'wait_until', time: '09:00' }]
    const steps = [
      { id: 'w', type: 'wait', for: 'P1D' },
      {
        id: 'b',
        type: 'branch',
        rule: { attribute: 'country', operator: 'equals', value: 'DE' },
        steps: inner,
        otherwise: [],
      },
      { id: 'a', type: 'send', channel: 'email', template },
    ]
    const campaignId = await shop.publish(steps, { quietHours: null })
    const waiting = { businessId: shop.businessId, campaignId, many: 1, dueAt: Date.now() + DAY }
    for (const step of ['w', 'u', 'a']) await fillDue(stack.sql, { ...waiting, step })
    await stack.sql`update due_steps set held_by = '{"type":"quiet_hours"}' where step = 'a'`
    await moveTo('Asia/Tokyo')
    await followBusinessZone(engine.deps)
    const woken = await stack.sql`select step from due_steps where due_at <= ${Date.now()} order by step`
    expect(woken).toEqual([{ step: 'a' }, { step: 'u' }])
  })

  it('that changed first goes first, and one that is being followed is left', async () => {
    await fill(1)
    const others = await Promise.all([1, 2].map(() => createBusiness(stack.sql, { timezone: 'UTC' })))
    const [first, second] = others.map(({ businessId }) => businessId) as [string, string]
    for (const id of [first, second]) await storeSettings(stack.sql, id, { timezone: 'Asia/Tokyo' })
    await stack.sql`update zone_changes set changed_at = changed_at + 1 where business_id = ${second}`
    const left = async () => {
      const changes = await stack.sql<{ id: string }[]>`select business_id as id from zone_changes`
      return changes.map(({ id }) => id)
    }
    await stack.sql.begin(async (tx) => {
      await tx`select from zone_changes where business_id = ${first} for update`
      expect(await followBusinessZone(engine.deps)).toBe(true)
    })
    expect(await left()).toEqual([first])
    await moveTo('Asia/Tokyo')
    await stack.sql`update zone_changes set changed_at = changed_at + 1 where business_id = ${shop.businessId}`
    await followBusinessZone(engine.deps)
    expect(await left()).toEqual([shop.businessId])
  })

  it('that is saved unchanged, and other businesses, cost nothing', async () => {
    await fill(2)
    const before = await rows()
    await moveTo('UTC')
    expect(await followBusinessZone(engine.deps)).toBe(false)
    const other = await createBusiness(stack.sql)
    await storeSettings(stack.sql, other.businessId, { timezone: 'Asia/Tokyo' })
    expect(await followBusinessZone(engine.deps)).toBe(true)
    expect(await followBusinessZone(engine.deps)).toBe(false)
    expect(await rows()).toEqual(before)
  })

  it('waits for a claim that has read the one of before', async () => {
    const { campaignId } = await fill(1)
    const held = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const claiming = stack.sql.begin(async (tx) => {
      await tx`select from campaigns where id = ${campaignId} for share`
      locked.resolve()
      await held.promise
      await tx`update due_steps set due_at = ${Date.now() + DAY}`
    })
    await locked.promise
    await moveTo('Asia/Tokyo')
    const following = followBusinessZone(engine.deps)
    const patience = Date.now() + PATIENCE_MS
    while (!(await isWaiting(stack.sql, 'from campaigns')) && Date.now() < patience) await sleep(10)
    held.resolve()
    await Promise.all([claiming, following])
    expect((await only()).dueAt).toBeLessThanOrEqual(Date.now())
  })

  it('is followed by the worker', async () => {
    const { began } = await fill(3)
    const stop = new AbortController()
    const running = runCampaigns(engine.deps, stop.signal)
    try {
      await moveTo('Asia/Tokyo')
      const wanted = dueIn(began, 'Asia/Tokyo')
      const patience = Date.now() + PATIENCE_MS
      while ((await rows()).some(({ dueAt }) => dueAt !== wanted) && Date.now() < patience) await sleep(20)
      expect(new Set((await rows()).map(({ dueAt }) => dueAt))).toEqual(new Set([wanted]))
    } finally {
      stop.abort()
      await running
    }
  })
})
