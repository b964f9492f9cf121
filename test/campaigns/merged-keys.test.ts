/** Merges of contacts with enrolments for each order (campaigns, "Journeys per order"). */
import { expect, it } from 'vitest'
import { NOW, eventFact, track } from '../support/facts.ts'
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
