/**
 * A save reports the loops for which it has made work due, so that they are woken at once (stores/wake-ups.ts). A loop that is
 * woken all the time looks no more often for what it cannot move.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { sleep } from '../../src/async/sleep.ts'
import { runCampaigns } from '../../src/campaigns/engine/run-campaigns.ts'
import { addTo } from '../deliveries/delivery-lab.ts'
import { type Pipeline, batch, eventFact, openPipeline } from '../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { fillDue } from '../support/fill-due.ts'
import { ANN, type Engine, type Shop, openEngine, openShop } from './engine-lab.ts'

let stack: Stack
let engine: Engine
let pipeline: Pipeline
let shop: Shop
beforeAll(async () => {
  stack = await openStack()
  engine = openEngine(stack)
  pipeline = await openPipeline(stack.sql)
})
afterAll(async () => {
  await engine.close()
  await stack.close()
})
beforeEach(async () => {
  const { businessId } = await createBusiness(stack.sql)
  shop = openShop(stack, engine, pipeline, businessId)
})

const wokenBy = async (...calls: Parameters<Pipeline['microBatch']>) => {
  const outcome = await pipeline.run(pipeline.microBatch(...calls))
  return outcome.kind === 'applied' ? outcome.due : outcome.kind
}

it('campaigns are woken by an event that begins an enrolment, and by one that a step waits for', async () => {
  const waits = { id: 'w', type: 'wait_for', event: 'paid', timeout: 'P1D', steps: [], otherwise: [] }
  await shop.publish([waits], { trigger: 'signup' })
  expect(await wokenBy(shop.live('visit'))).toEqual([])
  expect(await wokenBy(shop.live('signup'))).toEqual(['campaigns'])
  expect(await wokenBy(shop.live('visit'))).toEqual([])
  expect(await wokenBy(shop.live('paid'))).toEqual(['campaigns'])
})

it('nothing is woken by a past event', async () => {
  await shop.publish([{ id: 'w', type: 'wait', for: 'PT1H' }], { trigger: 'signup' })
  expect(await wokenBy(batch(shop.businessId, [eventFact('signup', ANN)]))).toEqual([])
})

it('deliveries are woken by an event for a destination', async () => {
  expect(await wokenBy(shop.live('purchase'))).toEqual([])
  await addTo(stack.sql, shop.businessId, 'webhook')
  expect(await wokenBy(shop.live('purchase'))).toEqual(['deliveries'])
})

it('a loop that is woken all the time claims no more often for an inactive business, and still at once for others', async () => {
  const { businessId } = shop
  const steps = async (of: Shop) => [{ id: 'a', type: 'send', channel: 'email', template: await of.template() }]
  const held = await shop.publish(await steps(shop))
  await fillDue(stack.sql, { businessId, campaignId: held, step: 'a', many: 100, dueAt: Date.now() - 60_000 })
  await stack.sql`update businesses set active = false where id = ${businessId}`
  const { businessId: otherId } = await createBusiness(stack.sql)
  const other = openShop(stack, engine, pipeline, otherId)
  const welcome = await other.publish(await steps(other))
  let claims = 0
  let rounds = 0
  const { due } = engine.deps
  const deps = {
    ...engine.deps,
    now: Date.now,
    due: { ...due, find: (...asked: Parameters<typeof due.find>) => ((claims += 1), due.find(...asked)) },
    wakeUps: {
      clear: () => void (rounds += 1),
      sleep: (ms: number, signal: AbortSignal) => sleep(Math.min(ms, 10), signal),
      close: () => undefined,
    },
  }
  const stop = new AbortController()
  const running = runCampaigns(deps, stop.signal)
  try {
    // Until the backoff has reached a second.
    await delay(3000)
    const before = { claims, rounds }
    await delay(2000)
    expect(claims - before.claims).toBeLessThanOrEqual(5)
    expect(rounds - before.rounds).toBeGreaterThan(20)
    for (let n = 0; n < 3; n += 1) {
      const claimsBefore = claims
      const dueAt = Date.now()
      await fillDue(stack.sql, { businessId: otherId, campaignId: welcome, step: 'a', many: 1, dueAt })
      await vi.waitUntil(() => claims > claimsBefore, { timeout: PATIENCE_MS, interval: 5 })
      const sent = async () => (await other.states()).filter((state) => state === 'a sent').length === n + 1
      await vi.waitUntil(sent, { timeout: PATIENCE_MS, interval: 5 })
    }
    const delays = await stack.sql<{ ms: number }[]>`
      select m.claimed_at - e.enrolled_at as ms from messages m join enrolments e on e.id = m.enrolment_id
      where m.business_id = ${otherId}`
    expect(Math.min(...delays.map(({ ms }) => ms))).toBeLessThan(250)
  } finally {
    stop.abort()
    await running
  }
})
