/** Merges of contacts with enrolments for each order (campaigns, "Journeys per order"). */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { NewCampaign } from '../../src/campaigns/create-campaign.ts'
import { NOW, batch, eventFact, track } from '../support/facts.ts'
import { runs } from '../support/runs.ts'
import { createBusiness } from '../support/stack.ts'
import { openShop } from './engine-lab.ts'
import { type EngineLab, useEngineLab } from './use-engine-lab.ts'

let lab: EngineLab
useEngineLab((opened) => (lab = opened))

const EMAIL = { email: 'ann@x.io' }
const PHONE = { phone: '+4917612345678' }
const BOTH = { ...EMAIL, ...PHONE }
type Who = typeof EMAIL | typeof PHONE
type Sent = [event: string, who: Who, cart: string | undefined, at: number]

/** Applies micro-batches, and returns the enrolments. */
async function apply(...microBatches: Sent[][]): Promise<string[]> {
  const { businessId } = await createBusiness(lab.stack.sql)
  const shop = openShop(lab.stack, lab.engine, lab.pipeline, businessId)
  await shop.publish([{ id: 'pause', type: 'wait', for: 'PT1H' }], {
    trigger: 'cart',
    goal: 'purchase',
    keys: { enrolPer: { property: 'cart_id' }, goalConditions: { sameKey: true } },
  })
  for (const sent of microBatches)
    await lab.pipeline.apply(
      ...sent.map(([event, who, cart, at]) => ({
        ...track(
          businessId,
          eventFact(event, who, { occurredAt: NOW + at, properties: JSON.stringify({ cart_id: cart }) }),
        ),
        receivedAt: NOW + at,
      })),
    )
  const rows = await lab.stack.sql<{ key: string; state: string }[]>`
    select key, state from enrolments where business_id = ${businessId} order by enrolled_at, id`
  return rows.map(({ key, state }) => `${key} ${state}`)
}

it.each<[string, Sent[][], string[]]>([
  [
    'two that the micro-batch has made enter as one',
    [
      [
        ['seen', EMAIL, undefined, 0],
        ['seen', PHONE, undefined, 0],
        ['cart', BOTH, 'a', 1],
      ],
    ],
    ['a active'],
  ],
  [
    'of two in one micro-batch, the earlier of a key stays, and a purchase counts for the other',
    [
      [
        ['cart', EMAIL, 'a', 0],
        ['cart', PHONE, 'a', 1],
        ['purchase', PHONE, 'b', 3],
        ['cart', BOTH, 'b', 2],
      ],
    ],
    ['a active', 'a merged', 'b converted'],
  ],
  [
    'a stored purchase of one ends the enrolment of the other',
    [[['cart', EMAIL, 'a', 0]], [['purchase', PHONE, 'a', 1]], [['seen', BOTH, undefined, 2]]],
    ['a converted'],
  ],
  [
    'a new one and a stored one do not enter again',
    [
      [
        ['cart', EMAIL, 'a', 0],
        ['purchase', EMAIL, 'a', 1],
      ],
      [
        ['purchase', PHONE, 'b', 5],
        ['cart', BOTH, 'a', 2],
        ['cart', BOTH, 'b', 3],
      ],
    ],
    ['a converted', 'b converted'],
  ],
])('%s', async (_, microBatches, enrolments) => {
  expect(await apply(...microBatches)).toEqual(enrolments)
})

const PEOPLE = [EMAIL, PHONE, BOTH, { email: 'bob@x.io' }, { ...PHONE, email: 'bob@x.io' }]
const call = fc.record({
  event: fc.constantFrom('cart', 'cart', 'purchase', 'seen'),
  who: fc.constantFrom(...PEOPLE),
  cart: fc.constantFrom('a', 'b'),
  at: fc.nat(20),
  isBatch: fc.boolean(),
})
const calls = fc.array(fc.record({ call, isLast: fc.boolean() }), { minLength: 2, maxLength: 8 })
const PER_CART = { enrolPer: { property: 'cart_id' } }
const isLarge = { where: [{ property: 'at', operator: 'greater_than' as const, value: 10 }] }

it.each<[string, Partial<NewCampaign>]>([
  ['a goal of the key', { ...PER_CART, goalConditions: { sameKey: true } }],
  ['a goal of any key', { ...PER_CART, goalConditions: isLarge, whileActive: 'update' }],
  ['a beginning again of a key', { ...PER_CART, goalConditions: { sameKey: true }, whileActive: 'restart' }],
  ['a beginning again of a contact', { whileActive: 'restart' }],
])('%s does not depend on how calls are cut into micro-batches', async (_, keys) => {
  async function outcomeOf(
    sent: { call: typeof call extends fc.Arbitrary<infer One> ? One : never; isLast: boolean }[],
    canEnterAgain: boolean,
  ) {
    const { businessId } = await createBusiness(lab.stack.sql)
    const shop = openShop(lab.stack, lab.engine, lab.pipeline, businessId)
    const steps = [{ id: 'pause', type: 'wait', for: 'PT1H' }]
    await shop.publish(steps, { trigger: 'cart', goal: 'purchase', canEnterAgain, keys })
    const gathered = []
    for (const [place, { call: one, isLast }] of sent.entries()) {
      const { event, who, cart, at, isBatch } = one
      const properties = JSON.stringify({ cart_id: cart, at })
      const fact = eventFact(event, who, { occurredAt: NOW + at, properties })
      const request = isBatch ? batch(businessId, [fact]) : track(businessId, fact)
      gathered.push({ ...request, receivedAt: NOW + 10 + place })
      if (isLast || place === sent.length - 1) await lab.pipeline.apply(...gathered.splice(0))
    }
    return await lab.stack.sql`
      select e.key, e.state, e.enrolled_at, e.received_at, d.began_at, case when e.state = 'active' then e.event_properties end as read
      from enrolments e left join due_steps d on d.business_id = e.business_id and d.enrolment_id = e.id and e.state = 'active'
      where e.business_id = ${businessId} order by e.received_at, e.enrolled_at, e.key`
  }
  await fc.assert(
    fc.asyncProperty(calls, fc.boolean(), async (sent, again) => {
      const alone = sent.map((one) => ({ ...one, isLast: true }))
      expect(await outcomeOf(sent, again)).toEqual(await outcomeOf(alone, again))
    }),
    { numRuns: runs(10), endOnFailure: true },
  )
})
