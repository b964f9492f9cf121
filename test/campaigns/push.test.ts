/** Push messages of campaigns: which browsers they reach, and their outcomes at the push services. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readHasPush, keepPushSubscription } from '../../src/messages/push/subscriptions.ts'
import { removeChannel, saveChannel } from '../../src/messages/channels/save-channel.ts'
import { forgetVisitors } from '../../src/erasure/forget-visitors.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { LOOPBACK_GUARD, SECRETS_KEY } from '../deliveries/delivery-lab.ts'
import { type PushService, type TestBrowser, openPushService } from '../messages/push/push-service.ts'
import { NOW, type Pipeline, browser, browserFact, identify, identifyFact } from '../support/facts.ts'
import type { Stack } from '../support/stack.ts'
import { ACTOR, ANN, DAY, type Engine, type Shop } from './engine-lab.ts'
import { useEngineLab } from './use-engine-lab.ts'

let stack: Stack
let pipeline: Pipeline
let engine: Engine
let shop: Shop
let service: PushService
const checksTls = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
useEngineLab((lab) => ({ stack, pipeline, engine, shop } = lab), { secretsKey: SECRETS_KEY })
beforeAll(async () => {
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  service = await openPushService()
})
afterAll(async () => {
  if (checksTls === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
  else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = checksTls
  await service.close()
})
beforeEach(async () => void (await setUp()))
afterEach(() => void service.heard.splice(0))

const BOB = { email: 'bob@x.io' }
const [V, W] = ['a'.repeat(32), 'b'.repeat(32)]
const key = () => ({ businessId: shop.businessId, channel: 'push' as const, actor: ACTOR })
const deps = () => ({ sql: stack.sql, guard: LOOPBACK_GUARD, secretsKey: SECRETS_KEY, now: () => engine.clock.now })

async function setUp(settings: Record<string, unknown> = {}, more: object = {}): Promise<Record<string, unknown>> {
  const sent = { provider: 'webpush', subject: 'mailto:push@shop.example', ...settings }
  const saved = await saveChannel({ ...deps(), ...more }, key(), () => sent)
  if (saved.kind !== 'saved') throw new Error(JSON.stringify(saved))
  return saved.channel.settings
}

/** The browser of a visitor subscribes. */
async function subscribe(visitorId = V, at = engine.clock.now): Promise<TestBrowser> {
  const subscribed = service.subscribe()
  await keep(subscribed.subscription, visitorId, at)
  return subscribed
}

async function keep({ endpoint, keys }: TestBrowser['subscription'], visitorId: string, at = engine.clock.now) {
  const visitor = { businessId: shop.businessId, visitorId }
  expect(await keepPushSubscription(stack.sql, visitor, { endpoint, ...keys }, at)).toBe(true)
}

const identified = (identity: object, visitorId = V, keyed = true) =>
  pipeline.identify(identify(shop.businessId, identifyFact(identity, { visitorId }), keyed))

const kept = async () => {
  const rows = await stack.sql<{ endpoint: string }[]>`
    select endpoint from push_subscriptions where business_id = ${shop.businessId} order by created_at`
  return rows.map(({ endpoint }) => endpoint)
}

/** A contact that a keyed call has identified, with an opt-in. The call has named its browser. */
async function known(identity: object = ANN, visitorId = V): Promise<string> {
  const { contactId } = await identified(identity, visitorId)
  await shop.optIn(contactId, 'push')
  return contactId
}

/** Sends a message to the person, and returns the new states. */
async function sendTo(identity: object = ANN): Promise<string[]> {
  const before = (await shop.states()).length
  const template = await shop.template('push', 'Hello {{contact.firstName}}')
  const event = `signup ${before}`
  await shop.publish([{ id: 'a', type: 'send', channel: 'push', template }], { trigger: event })
  await pipeline.apply(shop.live(event, identity, engine.clock.now))
  await engine.drain()
  return (await shop.states()).slice(before)
}

describe('a message', () => {
  it('goes to all browsers of the contact, encrypted for each and signed by the key of the business', async () => {
    const { publicKey } = await setUp({ ttl: 60, urgency: 'high', icon: 'https://shop.example/icon.png' })
    const contactId = await known()
    await identified(ANN, W)
    const browsers = [await subscribe(V), await subscribe(W)]
    expect(await sendTo()).toEqual(['a sent'])
    const [message] = await shop.messages()
    for (const { received } of browsers)
      expect(received).toEqual([
        {
          sluice: message?.['id'],
          title: 'News',
          body: 'Hello there',
          url: 'https://shop.example/news',
          icon: 'https://shop.example/icon.png',
          lang: 'en',
        },
      ])
    expect(message).toMatchObject({ recipient: contactId, detail: '2 of 2 browsers', provider: 'webpush' })
    for (const { headers, claims, key: signer, bytes } of service.heard) {
      const topic = String(message?.['id']).replaceAll('-', '')
      expect(headers).toMatchObject({ ttl: '60', urgency: 'high', topic, 'content-encoding': 'aes128gcm' })
      expect(claims).toEqual({ aud: service.url, exp: NOW / 1000 + 12 * 3600, sub: 'mailto:push@shop.example' })
      expect(signer).toBe(publicKey)
      expect(bytes).toBeLessThanOrEqual(4096)
    }
    expect(service.heard).toHaveLength(2)
  })

  it('needs an opt-in, and a browser', async () => {
    await identified(ANN)
    await subscribe()
    expect(await sendTo()).toEqual(['a skipped no_opt_in'])
    await known(BOB, W)
    expect(await sendTo(BOB)).toEqual(['a skipped no_address'])
    expect(service.heard).toEqual([])
  })

  it('is logged without a browser, by the log', async () => {
    await removeChannel(deps(), key())
    await known()
    expect(await readHasPush(stack.sql, { businessId: shop.businessId, contactId: await known() })).toBeNull()
    expect(await sendTo()).toEqual(['a sent'])
    expect(await shop.logged()).toMatchObject([{ recipient: null, message: { title: 'News', body: 'Hello there' } }])
  })

  it('is signed by new keys where the former ones cannot be opened', async () => {
    await known()
    const { publicKey: lost } = await setUp({}, { secretsKey: 'cd'.repeat(32) })
    const former = await subscribe()
    const { publicKey } = await setUp()
    expect(publicKey).not.toBe(lost)
    const own = await subscribe()
    expect(await sendTo()).toEqual(['a sent'])
    expect([former.received.length, own.received.length]).toEqual([0, 1])
  })

  it('goes to no browser that subscribed by keys that were replaced', async () => {
    await known()
    await subscribe()
    const first = await setUp({ ttl: 1 })
    await removeChannel(deps(), key())
    const second = await setUp()
    expect(second['publicKey']).not.toBe(first['publicKey'])
    expect(await sendTo()).toEqual(['a skipped no_address'])
    const again = await subscribe()
    expect(await sendTo()).toEqual(['a sent'])
    expect(again.received).toHaveLength(1)
  })
})

describe('the browsers of a contact', () => {
  it('are those that a keyed call has named, once a keyed call has used the contact', async () => {
    const { contactId } = (await pipeline.apply(shop.live('seen')))[0] as TrackAnswer
    await shop.optIn(contactId, 'push')
    // A page reported the identity, so the browser may belong to another person.
    await identified(ANN, V, false)
    const theirs = await subscribe(V)
    expect(await readHasPush(stack.sql, { businessId: shop.businessId, contactId })).toBe(false)
    expect(await sendTo()).toEqual(['a skipped no_address'])
    await identified(ANN, V)
    expect(await readHasPush(stack.sql, { businessId: shop.businessId, contactId })).toBe(true)
    expect(await sendTo()).toEqual(['a sent'])
    expect(theirs.received).toHaveLength(1)
  })

  it('are all of them, while pages alone know the contact', async () => {
    const { contactId } = await identified(ANN, V, false)
    await shop.optIn(contactId, 'push')
    const own = await subscribe(V)
    const template = await shop.template('push')
    await shop.publish([{ id: 'a', type: 'send', channel: 'push', template }])
    await pipeline.browser(browser(shop.businessId, browserFact('signup', V), NOW))
    await engine.drain()
    expect(await shop.states()).toEqual(['a sent'])
    expect(own.received).toHaveLength(1)
  })

  it('wait with their link, where pages are confirmed', async () => {
    await stack.sql`
      update businesses set page_identify = 'confirmed', config_version = config_version + 1 where id = ${shop.businessId}`
    pipeline.deps.configs.clear()
    const { contactId } = (await pipeline.apply(shop.live('seen')))[0] as TrackAnswer
    await identified(ANN, V, false)
    await subscribe(V)
    const hasPush = () => readHasPush(stack.sql, { businessId: shop.businessId, contactId })
    expect(await hasPush()).toBe(false)
    await identified(ANN, V)
    expect(await hasPush()).toBe(true)
  })

  it('are no longer those in which another person was identified since', async () => {
    await known()
    const shared = await subscribe()
    await known(BOB, V)
    expect(await sendTo(ANN)).toEqual(['a skipped no_address'])
    expect(await sendTo(BOB)).toEqual(['a sent'])
    expect(shared.received).toHaveLength(1)
  })

  it('are ten at most: the oldest falls out, of whichever browser', async () => {
    await known()
    await identified(ANN, W)
    const browsers: TestBrowser[] = []
    for (let n = 0; n < 10; n += 1) browsers.push(await subscribe(n % 2 === 0 ? V : W, NOW + n))
    expect(await kept()).toHaveLength(10)
    browsers.push(await subscribe(W, NOW + 10))
    expect(await kept()).toEqual(browsers.slice(1).map(({ subscription }) => subscription.endpoint))
    expect(await sendTo()).toEqual(['a sent'])
    expect(browsers.map(({ received }) => received.length)).toEqual([0, ...browsers.slice(1).map(() => 1)])
  })

  it('are ten at most when many subscribe at once, also of a visitor who is nobody yet', async () => {
    await Promise.all(Array.from({ length: 14 }, () => subscribe(V, NOW)))
    expect(await kept()).toHaveLength(10)
    await known(ANN, V)
    await known(ANN, W)
    await Promise.all(Array.from({ length: 14 }, (_, n) => subscribe(n % 2 === 0 ? V : W, NOW + 1)))
    expect(await kept()).toHaveLength(10)
  })

  it('are reached beyond ten by no message, when they come together by a merge', async () => {
    await known({ email: 'ann@x.io' }, V)
    const customer = { platformCustomerId: '7' }
    await known(customer, W)
    for (let n = 0; n < 7; n += 1) await subscribe(V, NOW + n)
    for (let n = 0; n < 7; n += 1) await subscribe(W, NOW + n)
    await pipeline.apply(shop.live('seen', { ...ANN, ...customer }))
    expect(await sendTo()).toEqual(['a sent'])
    expect(service.heard).toHaveLength(10)
  })

  it('go over to the visitor who subscribes with the same endpoint', async () => {
    await known()
    const moved = await subscribe(V)
    await known(BOB, W)
    await keep(moved.subscription, W)
    expect(await kept()).toHaveLength(1)
    expect(await sendTo(ANN)).toEqual(['a skipped no_address'])
    expect(await sendTo(BOB)).toEqual(['a sent'])
  })

  it('are forgotten with the person, and with a visitor who stays away', async () => {
    const contactId = await known()
    await subscribe(V)
    await known(BOB, W)
    await subscribe(W)
    // Ann may have been the one who subscribed in Bob's browser, too.
    await identified(ANN, W)
    await identified(BOB, W)
    const nobody = 'c'.repeat(32)
    await subscribe(nobody)
    await pipeline.apply({ kind: 'erase', businessId: shop.businessId, receivedAt: NOW, contactId })
    expect(await kept()).toHaveLength(1)
    await stack.sql`update visitors set last_seen_at = 1 where business_id = ${shop.businessId} and visitor_id = ${nobody}`
    await forgetVisitors(stack.sql, 2)
    expect(await kept()).toEqual([])
  })
})

describe('push services', () => {
  it('say which browsers are gone: these are removed, and the message is sent while one takes it', async () => {
    await known()
    const [gone, unknown, there] = [await subscribe(), await subscribe(), await subscribe()]
    Object.assign(gone, { status: 410 })
    Object.assign(unknown, { status: 404 })
    expect(await sendTo()).toEqual(['a sent'])
    expect(await kept()).toEqual([there.subscription.endpoint])
    Object.assign(there, { status: 410 })
    expect(await sendTo()).toEqual(['a failed provider_refused'])
    expect(await kept()).toEqual([])
    expect(await sendTo()).toEqual(['a skipped no_address'])
    // The sender is not to blame.
    const outcomes = await stack.sql`
      select sum(refused)::int as refused from channel_outcomes where business_id = ${shop.businessId}`
    expect(outcomes).toEqual([{ refused: 0 }])
  })

  it.each([
    ['400', 400, 'a failed provider_refused'],
    ['a redirect', 301, 'a failed provider_refused'],
    ['403', 403, 'a failed provider_refused'],
    ['413', 413, 'a failed provider_refused'],
    ['429', 429, 'a claimed'],
    ['500', 500, 'a unknown'],
    ['503', 503, 'a unknown'],
    ['no answer', null, 'a unknown'],
  ])('answer with %s', async (_, status, state) => {
    await known()
    Object.assign(await subscribe(), { status })
    expect(await sendTo()).toEqual([state])
    expect(await kept()).toHaveLength(1)
    const heard = service.heard.length
    await engine.drain(NOW + 2 * DAY)
    expect(service.heard.length > heard).toBe(status === 429)
  })

  it('are asked again after 429, and then the message arrives once', async () => {
    await known()
    const busy = await subscribe()
    busy.status = 429
    expect(await sendTo()).toEqual(['a claimed'])
    busy.status = 201
    await engine.drain(NOW + 60_000)
    expect(await shop.states()).toEqual(['a sent'])
    await engine.drain(NOW + DAY)
    expect(busy.received).toHaveLength(1)
  })

  it('are not asked again once one has taken the message, whatever the others say', async () => {
    await known()
    const [busy, broken, there] = [await subscribe(), await subscribe(), await subscribe()]
    Object.assign(busy, { status: 429 })
    Object.assign(broken, { status: 500 })
    expect(await sendTo()).toEqual(['a sent'])
    await engine.drain(NOW + DAY)
    expect([service.heard.length, there.received.length]).toEqual([3, 1])
  })

  it('are not connected to at a private address, even when one was stored', async () => {
    await known()
    const { keys } = service.subscribe().subscription
    await keep({ endpoint: 'https://10.0.0.1/send', keys }, V)
    expect(await sendTo()).toEqual(['a failed provider_refused'])
    expect(await shop.messages()).toMatchObject([{ detail: expect.stringContaining('private') as string }])
    const there = await subscribe()
    expect(await sendTo()).toEqual(['a sent'])
    expect(there.received).toHaveLength(1)
  })
})
