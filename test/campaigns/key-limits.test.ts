/** Limits of enrolments for each order, and two partitions that decide about one contact (campaigns, "Journeys per order"). */
import { expect, it } from 'vitest'
import { MAX_ACTIVE_IN_CAMPAIGN, MAX_ACTIVE_WITH_KEYS } from '../../src/rules/limits.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { NOW, eventFact, openPipeline, track } from '../support/facts.ts'
import { createBusiness } from '../support/stack.ts'
import { ANN, HOUR, openShop } from './engine-lab.ts'
import { type EngineLab, useEngineLab } from './use-engine-lab.ts'

let lab: EngineLab
useEngineLab((opened) => (lab = opened))

/** Campaigns with the triggers `cart 0`, `cart 1` and so on. */
async function open(campaigns = 1) {
  const { businessId } = await createBusiness(lab.stack.sql)
  const shop = openShop(lab.stack, lab.engine, lab.pipeline, businessId)
  for (let nth = 0; nth < campaigns; nth += 1)
    await shop.publish([{ id: 'pause', type: 'wait', for: 'PT1H' }], {
      trigger: `cart ${nth}`,
      goal: 'purchase',
      keys: { enrolPer: { property: 'cart_id' }, goalConditions: { sameKey: true } },
    })
  const event = (name: string, cart: string, at = 0) => ({
    ...track(businessId, eventFact(name, ANN, { occurredAt: NOW + at, properties: JSON.stringify({ cart_id: cart }) })),
    receivedAt: NOW + at,
  })
  const states = async () => {
    const rows = await lab.stack.sql<{ key: string; state: string }[]>`
      select key, state from enrolments where business_id = ${businessId} order by id`
    return rows.map(({ key, state }) => `${key} ${state}`)
  }
  return { businessId, event, states }
}

it('a contact has at most 100 active ones in a campaign, and 500 in all', async () => {
  const { event, states } = await open(MAX_ACTIVE_WITH_KEYS / MAX_ACTIVE_IN_CAMPAIGN + 1)
  const isWarned = (answer: unknown) => (answer as TrackAnswer).warnings?.some((one) => one.includes('at most 100'))
  for (let nth = 0; nth < MAX_ACTIVE_WITH_KEYS / MAX_ACTIVE_IN_CAMPAIGN; nth += 1) {
    const carts = Array.from({ length: MAX_ACTIVE_IN_CAMPAIGN + 1 }, (_, cart) => event(`cart ${nth}`, `${cart}`))
    const answers = await lab.pipeline.apply(...carts)
    expect(answers.slice(-2).map(isWarned)).toEqual([false, true])
  }
  const [refused] = await lab.pipeline.apply(event('cart 5', 'a'))
  expect([isWarned(refused), await states()]).toEqual([true, expect.objectContaining({ length: MAX_ACTIVE_WITH_KEYS })])
  await lab.pipeline.apply(event('purchase', '0', 1))
  await lab.pipeline.apply(event('cart 5', 'a', 2))
  expect((await states()).at(-1)).toBe('a active')
})

it('the newest 1,000 keys of a goal are remembered, at a cost that stays small', async () => {
  const { businessId, event, states } = await open()
  const purchase = (nth: number) => event('purchase', `${nth}`, 1000 + nth)
  await lab.pipeline.apply(...Array.from({ length: 1000 }, (_, nth) => purchase(nth)))
  const since = performance.now()
  for (let nth = 1000; nth < 1100; nth += 1) await lab.pipeline.apply(purchase(nth))
  // Each took 3 ms here, and 56 ms when the keys were sorted once for each of them.
  expect(performance.now() - since).toBeLessThan(4000)
  const kept = await lab.stack.sql`
    select count(*)::int as many, (min(last_at) - ${NOW})::int as oldest from goal_times where business_id = ${businessId}`
  expect(kept).toEqual([{ many: 1000, oldest: 1100 }])
  await lab.pipeline.apply(event('cart 0', '100', 5), event('cart 0', '99', 5))
  expect(await states()).toEqual(['100 converted', '99 active'])
})

it('two partitions see what the other one has decided, and what the engine has ended', async () => {
  const { event, states } = await open()
  const [ours, theirs] = [lab.pipeline, await openPipeline(lab.stack.sql)]
  for (const pipeline of [ours, theirs]) await pipeline.apply(event('seen', ''))
  await ours.apply(event('cart 0', 'a'))
  await theirs.apply(event('purchase', 'b', 9))
  await ours.apply(event('cart 0', 'b', 2))
  await theirs.apply(event('cart 0', 'a', 3))
  await theirs.apply(event('purchase', 'a', 4))
  for (const pipeline of [ours, theirs]) await pipeline.apply(event('cart 0', 'a', 5))
  await ours.apply(event('cart 0', 'c', 6))
  await lab.engine.drain(NOW + HOUR + 6)
  for (const pipeline of [ours, theirs]) await pipeline.apply(event('cart 0', 'c', HOUR + 7))
  expect(await states()).toEqual(['a converted', 'b converted', 'c finished'])
})
