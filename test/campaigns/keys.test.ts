/** Campaigns that enrol once for each order (campaigns, "Journeys per order"). */
import { describe, expect, it } from 'vitest'
import type { NewCampaign } from '../../src/campaigns/create-campaign.ts'
import { NOW, batch, eventFact, track } from '../support/facts.ts'
import { createBusiness } from '../support/stack.ts'
import { ANN, HOUR, MINUTE, type Shop, openShop } from './engine-lab.ts'
import { type EngineLab, useEngineLab } from './use-engine-lab.ts'

let lab: EngineLab
useEngineLab((opened) => (lab = opened))

const PER_CART = {
  enrolPer: { property: 'cart_id' },
  goalConditions: { sameKey: true as const },
} satisfies Partial<NewCampaign>
const WAIT = { id: 'pause', type: 'wait', for: 'PT1H' }

async function open(
  keys: Parameters<Shop['publish']>[1] & object = {},
  steps?: (template: string) => object[],
): Promise<Shop & { campaignId: string; send: (event: string, cart: unknown, more?: Sent) => Promise<unknown> }> {
  const { businessId } = await createBusiness(lab.stack.sql)
  const shop = openShop(lab.stack, lab.engine, lab.pipeline, businessId)
  const template = await shop.template('webhook', '{"cart":"{{enrolment.key}}","total":"{{event.properties.total}}"}')
  const made = steps?.(template) ?? [WAIT, { id: 'mail', type: 'send', channel: 'webhook', template }]
  const campaignId = await shop.publish(made, { trigger: 'cart', goal: 'purchase', keys: PER_CART, ...keys })
  return {
    ...shop,
    campaignId,
    send: (event, cart, { at = 0, receivedAt = at, ...properties } = {}) =>
      lab.pipeline.apply({
        ...track(
          shop.businessId,
          eventFact(event, ANN, {
            occurredAt: NOW + at,
            properties: JSON.stringify({ ...(cart !== undefined && { cart_id: cart }), ...properties }),
          }),
        ),
        receivedAt: NOW + receivedAt,
      }),
  }
}
interface Sent {
  at?: number
  receivedAt?: number
  [property: string]: unknown
}

async function states({ businessId }: { businessId: string }): Promise<string[]> {
  const rows = await lab.stack.sql<{ key: string; state: string }[]>`
    select key, state from enrolments where business_id = ${businessId} order by enrolled_at, id`
  return rows.map(({ key, state }) => `${key} ${state}`)
}

describe('a key', () => {
  it('is a text or a number: each has an enrolment of its own', async () => {
    const shop = await open()
    for (const cart of ['a', ' a ', 42, '42', 42.5, 'A', '', true, null, undefined, 'x'.repeat(201), { id: 1 }])
      await shop.send('cart', cart)
    expect(await states(shop)).toEqual(['a active', '42 active', '42.5 active', 'A active'])
  })

  it('ends by the goal of its own alone', async () => {
    const shop = await open()
    await shop.send('cart', 'a')
    await shop.send('cart', 'b')
    await shop.send('purchase', 'a', { at: 1 })
    expect(await states(shop)).toEqual(['a converted', 'b active'])
  })

  it('is converted at once by a purchase that came before its trigger', async () => {
    const shop = await open()
    await shop.send('purchase', 'a', { at: 5 })
    await shop.send('cart', 'b', { at: 1, receivedAt: 6 })
    await shop.send('cart', 'a', { at: 2, receivedAt: 7 })
    expect(await states(shop)).toEqual(['b active', 'a converted'])
  })

  it('is entered once for ever, or again after it has ended', async () => {
    const [once, again] = [await open(), await open({ canEnterAgain: true })]
    for (const shop of [once, again]) {
      await shop.send('cart', 'a')
      await shop.send('purchase', 'a', { at: 1 })
      await shop.send('cart', 'a', { at: 2 })
      await shop.send('cart', 'a', { at: 3 })
    }
    expect(await states(once)).toEqual(['a converted'])
    expect(await states(again)).toEqual(['a converted', 'a active'])
  })

  it('is in messages', async () => {
    const shop = await open()
    await shop.send('cart', 'a', { total: 5 })
    await lab.engine.drain(NOW + HOUR)
    expect((await shop.logged()).map(({ message }) => message['body'])).toEqual(['{"cart":"a","total":"5"}'])
  })

  it('counts in a batch as a goal, and does not enrol there', async () => {
    const shop = await open()
    await shop.send('cart', 'a')
    const facts = ['cart', 'purchase'].map((event) =>
      eventFact(event, ANN, { occurredAt: NOW + 1, properties: '{"cart_id":"a"}' }),
    )
    const other = eventFact('cart', ANN, { occurredAt: NOW + 1, properties: '{"cart_id":"b"}' })
    await lab.pipeline.apply({ ...batch(shop.businessId, [...facts, other]), receivedAt: NOW + 2 })
    expect(await states(shop)).toEqual(['a converted'])
  })
})

describe('while it is active', () => {
  it.each([
    ['ignore', '{"cart":"a","total":"1"}', HOUR],
    ['update', '{"cart":"a","total":"2"}', HOUR],
    ['restart', '{"cart":"a","total":"2"}', HOUR + 10 * MINUTE],
  ] as const)('%s', async (whileActive, body, sentAt) => {
    const shop = await open({ keys: { ...PER_CART, whileActive } })
    await shop.send('cart', 'a', { total: 1 })
    await lab.engine.drain(NOW)
    await shop.send('cart', 'a', { total: 2, at: 10 * MINUTE })
    await shop.send('cart', 'a', { total: 3, at: 9 * MINUTE, receivedAt: 11 * MINUTE })
    await lab.engine.drain(NOW + sentAt - 1)
    expect(await shop.logged()).toEqual([])
    await lab.engine.drain(NOW + sentAt)
    expect((await shop.logged()).map(({ message }) => message['body'])).toEqual([body])
    await shop.send('cart', 'a', { total: 4, at: sentAt + 1 })
    await lab.engine.drain(NOW + 5 * HOUR)
    expect(await shop.logged()).toHaveLength(1)
    expect(await states(shop)).toEqual(['a finished'])
  })
})

describe('a wait', () => {
  it('ends with events of its key that meet its conditions', async () => {
    const wait = (inner: object[]) => ({
      id: 'pay',
      type: 'wait_for',
      event: 'paid',
      sameKey: 'order.cart',
      where: [{ property: 'total', operator: 'greater_than_or_equal', value: 5 }],
      timeout: 'PT2H',
      steps: inner,
    })
    const shop = await open({}, (template) => [wait([{ id: 'mail', type: 'send', channel: 'webhook', template }])])
    for (const cart of ['a', 'b', 'c']) await shop.send('cart', cart)
    await lab.engine.drain(NOW)
    await shop.send('paid', undefined, { at: 1, order: { cart: 'a' }, total: 4 })
    await shop.send('paid', undefined, { at: 2, order: { cart: 'b' }, total: 5 })
    await shop.send('paid', undefined, { at: 3, total: 5 })
    await lab.engine.drain(NOW + 3)
    expect((await shop.logged()).map(({ message }) => message['body'])).toEqual(['{"cart":"b","total":""}'])
    await lab.engine.drain(NOW + 3 * HOUR)
    expect(await states(shop)).toEqual(['a finished', 'b finished', 'c finished'])
  })
})
