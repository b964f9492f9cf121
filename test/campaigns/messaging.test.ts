/** The quiet hours and caps of a business in the claims of its campaigns. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { explainSends } from '../../src/campaigns/explain-sends.ts'
import { saveMessaging } from '../../src/campaigns/messaging.ts'
import { DEFAULT_MESSAGING, type Messaging } from '../../src/rules/campaigns/messaging.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { NOW, type Pipeline, openPipeline } from '../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { ACTOR, DAY, type Engine, HOUR, type Shop, openEngine, openShop } from './engine-lab.ts'

let stack: Stack
let pipeline: Pipeline
let engine: Engine
let shop: Shop
let contactId: string
let template: string
beforeAll(async () => {
  stack = await openStack()
  pipeline = await openPipeline(stack.sql)
  engine = openEngine(stack)
})
afterAll(async () => {
  await engine.close()
  await stack.close()
})
beforeEach(async () => {
  const { businessId } = await createBusiness(stack.sql)
  engine.clock.now = NOW
  shop = openShop(stack, engine, pipeline, businessId)
  contactId = ((await pipeline.apply(shop.live('seen')))[0] as TrackAnswer).contactId
  await shop.optIn(contactId)
  template = await shop.template()
})

const send = (id: string, more: object = {}) => ({ id, type: 'send', channel: 'email', template, ...more })
const wait = (id: string, time: string) => ({ id, type: 'wait', for: time })
const set = (messaging: Partial<Messaging>) =>
  saveMessaging(stack.sql, { businessId: shop.businessId, actor: ACTOR }, { ...DEFAULT_MESSAGING, ...messaging })
const CAP = { channel: 'email', atMost: 1, days: 1, whenReached: 'wait' } as const
const dueAt = async () => (await shop.due()).map(({ due_at }) => due_at)
const checks = async (campaignId: string) => {
  const found = await explainSends(stack.sql, { businessId: shop.businessId, campaignId, contactId }, 100)
  return found.map(({ checked }) => checked)
}

it('hold campaigns that name no quiet hours, and the message says whose they were', async () => {
  const night = { from: '20:00', to: '10:00' }
  await set({ quietHours: night })
  const campaign = await shop.publish([wait('w', 'PT12H'), send('s')])
  const own = await shop.publish([wait('w', 'PT12H'), send('s')], { quietHours: null })
  await pipeline.apply(shop.live('signup'))
  await engine.drain()
  await engine.drain(NOW + 12 * HOUR)
  const opensAt = Date.parse('2026-11-21T10:00:00Z')
  expect(await dueAt()).toEqual([opensAt])
  expect(await checks(own)).toMatchObject([{ quietHours: null, quietHoursSetBy: 'campaign' }])
  await engine.drain(opensAt)
  expect(await checks(campaign)).toMatchObject([{ quietHours: night, quietHoursSetBy: 'business' }])
})

it('are those of the claim: contacts that were enrolled before are held by them, too', async () => {
  await shop.publish([wait('w', 'PT12H'), send('s')])
  await pipeline.apply(shop.live('signup'))
  await engine.drain()
  await set({ quietHours: null })
  await engine.drain(NOW + 12 * HOUR)
  expect(await shop.states()).toEqual(['s sent'])
})

it('count with caps beside those of the campaign, over all campaigns, and the stricter one holds', async () => {
  await set({ caps: [CAP] })
  const loose = { channel: 'email', atMost: 5, days: 1 }
  const campaign = await shop.publish([send('a'), send('b')], { caps: [loose], quietHours: null })
  await pipeline.apply(shop.live('signup'))
  await engine.drain()
  expect(await shop.states()).toEqual(['a sent'])
  expect(await dueAt()).toEqual([NOW + DAY])
  await engine.drain(NOW + DAY)
  expect(await shop.states()).toEqual(['a sent', 'b sent'])
  expect((await checks(campaign))[0]?.caps).toEqual([
    { ...loose, whenReached: 'wait', setBy: 'campaign', counted: 0 },
    { ...CAP, setBy: 'business', counted: 0 },
  ])
})

it('look back as far as the longest cap, also when the campaign has none', async () => {
  await shop.publish([send('a'), wait('w', 'P2D'), send('b')], { quietHours: null })
  await pipeline.apply(shop.live('signup'))
  await engine.drain()
  await set({ caps: [{ ...CAP, days: 3, whenReached: 'skip' }] })
  await engine.drain(NOW + 2 * DAY)
  expect(await shop.states()).toEqual(['a sent', 'b skipped cap'])
})

it('say nothing to another business', async () => {
  const { businessId } = await createBusiness(stack.sql)
  await saveMessaging(stack.sql, { businessId, actor: ACTOR }, { ...DEFAULT_MESSAGING, quietHours: null, caps: [CAP] })
  await shop.publish([send('a'), send('b')], { quietHours: null })
  await pipeline.apply(shop.live('signup'))
  await engine.drain()
  expect(await shop.states()).toEqual(['a sent', 'b sent'])
})
