/** Campaigns that enrol once for each order (campaigns, "Journeys per order"). */
import { describe, expect, it } from 'vitest'
import type { NewCampaign } from '../../src/campaigns/create-campaign.ts'
import {
  NOW,
  batch,
  browser,
  browserFact,
  eventFact,
  identify,
  identifyFact,
  openPipeline,
  track,
} from '../support/facts.ts'
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

/** As if the campaigns had been published before the instant of the facts. */
async function publishEarlier({ businessId }: { businessId: string }): Promise<void> {
  await lab.stack.sql`update campaigns set published_at = to_timestamp(0) where business_id = ${businessId}`
  await lab.stack.sql`update businesses set config_version = config_version + 1 where id = ${businessId}`
}

describe('a person', () => {
  it('brings what a browser has done before it was known', async () => {
    const shop = await open()
    await publishEarlier(shop)
    const visitorId = `v${'0'.repeat(31)}1`
    const viewed = (cart: string, at: number) =>
      browser(
        shop.businessId,
        browserFact('purchase', visitorId, { occurredAt: NOW + at, properties: `{"cart_id":"${cart}"}` }),
        NOW + at,
      )
    await lab.pipeline.apply(viewed('a', 5), viewed('b', 6))
    await shop.send('cart', 'a', { at: 1, receivedAt: 10 })
    await shop.send('cart', 'c', { at: 1, receivedAt: 10 })
    expect(await states(shop)).toEqual(['a active', 'c active'])
    await lab.pipeline.apply({ ...identify(shop.businessId, identifyFact(ANN, { visitorId })), receivedAt: NOW + 20 })
    expect(await states(shop)).toEqual(['a converted', 'c active'])
    await shop.send('cart', 'b', { at: 2, receivedAt: 30 })
    expect((await states(shop)).toSorted()).toEqual(['a converted', 'b converted', 'c active'])
  })

  it('is united: of one key the earlier stays, and a goal of either counts', async () => {
    const shop = await open({ canEnterAgain: true })
    const bob = { phone: '972501234567' }
    const send = (identity: object, event: string, cart: string, at: number) =>
      lab.pipeline.apply({
        ...track(
          shop.businessId,
          eventFact(event, identity, { occurredAt: NOW + at, properties: `{"cart_id":"${cart}"}` }),
        ),
        receivedAt: NOW + at,
      })
    for (const cart of ['a', 'b']) await send(ANN, 'cart', cart, 1)
    for (const cart of ['a', 'c']) await send(bob, 'cart', cart, 2)
    await send(bob, 'purchase', 'b', 3)
    await send(ANN, 'purchase', 'c', 0)
    expect(await states(shop)).toEqual(['a active', 'b active', 'a active', 'c active'])
    await lab.pipeline.apply({ ...track(shop.businessId, eventFact('seen', { ...ANN, ...bob })), receivedAt: NOW + 4 })
    expect(await states(shop)).toEqual(['a active', 'b converted', 'a merged', 'c active'])
    await send(bob, 'cart', 'a', 5)
    await send(bob, 'purchase', 'a', 6)
    expect(await states(shop)).toEqual(['a converted', 'b converted', 'a merged', 'c active'])
  })

  it('takes its keys along when it is erased, and counts in the report', async () => {
    const shop = await open()
    for (const cart of ['a', 'b']) await shop.send('cart', cart)
    await shop.send('purchase', 'z')
    const [{ contactId }] = await lab.stack.sql<[{ contactId: string }]>`
      select contact_id as "contactId" from enrolments where business_id = ${shop.businessId} limit 1`
    await lab.pipeline.apply({ kind: 'erase', businessId: shop.businessId, receivedAt: NOW, contactId })
    expect(await states(shop)).toEqual([])
    expect(await lab.stack.sql`select from goal_times where business_id = ${shop.businessId}`).toHaveLength(0)
    const left = await lab.stack.sql<{ person: string }[]>`
      select person from erased_enrolments where business_id = ${shop.businessId}`
    expect(left).toHaveLength(2)
    expect(new Set(left.map(({ person }) => person)).size).toBe(1)
  })
})

describe('the limit', () => {
  const keys = (many: number, from = 0) => Array.from({ length: many }, (_, n) => `k${from + n}`)
  const carts = (shop: Shop, event: string, names: string[], at: number) =>
    lab.pipeline.apply(
      ...names.map((cart) => ({
        ...track(shop.businessId, eventFact(event, ANN, { occurredAt: NOW + at, properties: `{"cart_id":"${cart}"}` })),
        receivedAt: NOW + at,
      })),
    )
  const refused = (answers: object[]) =>
    answers.flatMap((answer) => ('warnings' in answer ? (answer.warnings as string[]) : []))

  it('is 100 active enrolments in a campaign', async () => {
    const shop = await open({ canEnterAgain: true })
    expect(refused(await carts(shop, 'cart', keys(100), 1))).toEqual([])
    expect(refused(await carts(shop, 'cart', ['more'], 2))).toEqual([expect.stringContaining('at most 100 active')])
    await shop.send('purchase', 'k7', { at: 3 })
    expect(refused(await carts(shop, 'cart', ['more', 'most'], 4))).toHaveLength(1)
    expect((await states(shop)).filter((one) => one.endsWith('active'))).toHaveLength(100)
  })

  it('is 500 active enrolments in all campaigns', async () => {
    const shop = await open()
    for (let more = 0; more < 5; more += 1)
      await shop.publish([WAIT], { trigger: 'cart', keys: { enrolPer: PER_CART.enrolPer } })
    // Six campaigns: 83 keys are 498 enrolments.
    expect(refused(await carts(shop, 'cart', keys(83), 1))).toEqual([])
    expect(refused(await carts(shop, 'cart', ['more'], 2))).toEqual([
      expect.stringContaining('4 campaigns were not entered'),
    ])
    expect((await states(shop)).filter((one) => one.endsWith('active'))).toHaveLength(500)
  })

  it('is 1,000 remembered keys of a goal, the newest', async () => {
    const shop = await open()
    await carts(shop, 'purchase', ['oldest'], 0)
    await carts(shop, 'purchase', keys(999), 1)
    const remembered = async () =>
      (await lab.stack.sql<{ key: string }[]>`select key from goal_times where business_id = ${shop.businessId}`).map(
        ({ key }) => key,
      )
    expect(await remembered()).toHaveLength(1000)
    await carts(shop, 'purchase', ['newest'], 2)
    expect(await remembered()).toHaveLength(1000)
    expect(await remembered()).not.toContain('oldest')
    await carts(shop, 'cart', ['oldest', 'newest'], 0)
    expect((await states(shop)).toSorted()).toEqual(['newest converted', 'oldest active'])
  })

  it('is 10,000 remembered enrolments: an older key may enter again', async () => {
    const shop = await open()
    await shop.send('cart', 'first')
    await shop.send('purchase', 'first', { at: 1 })
    const fill = (many: number) => lab.stack.sql`
      insert into keyed_enrolments (business_id, id, campaign_id, contact_id, state, enrolled_at, received_at, ended_at, key)
      select e.business_id, later.id, e.campaign_id, e.contact_id, 'finished', e.enrolled_at, e.received_at, e.ended_at, 'x' || later.id
      from keyed_enrolments e cross join lateral (
        select ('f' || substr(gen_random_uuid()::text, 2))::uuid as id from generate_series(1, ${many}::integer)
      ) later
      where e.business_id = ${shop.businessId} and e.key = 'first'`
    await fill(9999)
    const again = async () => {
      await shop.send('cart', 'first', { at: 2 })
      return (await states(shop)).filter((one) => one.startsWith('first'))
    }
    expect(await again()).toEqual(['first converted'])
    await fill(1)
    expect(await again()).toEqual(['first converted', 'first active'])
  })

  it('is 100 different conditions on the events of one name', async () => {
    const shop = await open()
    const waits = (from: number, many: number) =>
      Array.from({ length: many }, (_, n) => ({
        type: 'wait_for',
        event: 'paid',
        where: [{ property: 'n', operator: 'equals', value: from + n }],
        timeout: 'P1D',
      }))
    await shop.publish(waits(0, 60))
    await shop.publish(waits(30, 70))
    await expect(shop.publish(waits(100, 1))).rejects.toThrow('too_many_conditions')
    await shop.publish(waits(99, 1))
  })
})

describe('two saves at once', () => {
  it('enrol one key once', async () => {
    const shop = await open({ canEnterAgain: true })
    await shop.send('seen', 'x')
    const others = await Promise.all(Array.from({ length: 4 }, () => openPipeline(lab.stack.sql)))
    const send = (event: string, at: number) => ({
      ...track(shop.businessId, eventFact(event, ANN, { occurredAt: NOW + at, properties: '{"cart_id":"a"}' })),
      receivedAt: NOW + at,
    })
    await Promise.all(others.map((one, n) => one.apply(send('cart', n))))
    expect(await states(shop)).toEqual(['a active'])
    await Promise.all(others.map((one, n) => one.apply(send(n % 2 === 0 ? 'purchase' : 'cart', 10 + n))))
    expect((await states(shop)).filter((one) => one === 'a converted').length).toBeGreaterThan(0)
    expect((await states(shop)).filter((one) => one === 'a active').length).toBeLessThan(2)
  })
})
