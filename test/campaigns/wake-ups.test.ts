/** A save reports the loops for which it has made work due, so that they are woken at once (stores/wake-ups.ts). */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { addTo } from '../deliveries/delivery-lab.ts'
import { type Pipeline, batch, eventFact, openPipeline } from '../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
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
