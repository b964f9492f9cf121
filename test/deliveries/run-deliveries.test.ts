/** Senders against a platform that accepts, refuses, hangs and breaks off. */
import { createHmac } from 'node:crypto'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { findDestination, updateDestination } from '../../src/deliveries/destinations.ts'
import { claimDeliveries } from '../../src/deliveries/claim-deliveries.ts'
import { observeDeliveries } from '../../src/deliveries/observe-deliveries.ts'
import { purgeDeliveries } from '../../src/deliveries/purge-deliveries.ts'
import { type DeliveryDeps, runDeliveries } from '../../src/deliveries/run-deliveries.ts'
import { sealSecret } from '../../src/stores/seal-secret.ts'
import { type Attempt, recordDelivery } from '../../src/deliveries/record-delivery.ts'
import type { SendResult } from '../../src/outbound/send-result.ts'
import { guardOf } from '../../src/outbound/target-guard.ts'
import { createLogger } from '../../src/log.ts'
import { createMetrics } from '../../src/metrics.ts'
import { NOW, type Pipeline, eventFact, openPipeline, track } from '../support/facts.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { LOOPBACK_GUARD, SECRETS, SECRETS_KEY, addTo, addVisitor, makeDue, readDeliveries } from './delivery-lab.ts'
import { OK, type Platform, json, openPlatform } from './platform.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const ANN = { email: 'ann@x.io', phone: '972500000001', phoneRead: true, platformCustomerId: 'C-1' }
const ALL = { settings: { all: true } }
const stack = useOpened(openStack)
let pipeline: Pipeline
let platform: Platform
let businessId: string
let stop = new AbortController()
let running: Promise<unknown>[] = []
beforeAll(async () => {
  pipeline = await openPipeline(stack.sql)
})
beforeEach(async () => {
  await stack.sql`delete from deliveries`
  ;({ businessId } = await createBusiness(stack.sql))
  platform = await openPlatform()
  stop = new AbortController()
  running = []
})
afterEach(async () => {
  stop.abort()
  await Promise.all(running)
  await platform.close()
})

const log = createLogger({ level: 'silent', name: 'test' })
const config = { secretsKey: SECRETS_KEY, deliveryTries: 3, deliveriesKeepMs: 86_400_000 }
function start(more: Partial<DeliveryDeps> = {}): void {
  running.push(runDeliveries({ sql: stack.sql, log, config, guard: LOOPBACK_GUARD, ...more }, stop.signal))
}

const buy = async (idempotencyKey: string | null = null, occurredAt = Date.now()) => {
  const fact = eventFact('purchase', ANN, { value: 5, idempotencyKey, occurredAt })
  return (await pipeline.track(track(businessId, fact))).contactId
}
const rows = () => readDeliveries(stack.sql, businessId)
const attempts = async () => {
  const [{ log }] = await stack.sql<[{ log: Attempt[] }]>`
    select attempt_log as log from deliveries where business_id = ${businessId}`
  return log
}
const states = async () => (await rows()).map(({ state }) => state)
const soon = { timeout: PATIENCE_MS, interval: 20 }
const until = (check: () => Promise<boolean>) => vi.waitUntil(check, soon)
const heldSeconds = async () => {
  const [row] = await stack.sql<[{ seconds: number }]>`
    select extract(epoch from held_until - now())::float8 as seconds from destinations where business_id = ${businessId}`
  return row.seconds
}
const untilStates = (...expected: string[]) =>
  until(async () => String((await states()).toSorted()) === String(expected))
const untilTried = (attempts: number) =>
  until(async () => (await rows()).every((row) => row.attempts === attempts && row.last_error !== null))

describe('a conversion', () => {
  it('reaches Meta, Google and a webhook, each in its own words and once', async () => {
    const url = platform.url
    platform.reply = (response, heard) =>
      heard.path === '/token'
        ? json(200, { access_token: 'ya29', expires_in: 3600 })(response, heard)
        : OK(response, heard)
    for (const kind of ['meta', 'google', 'webhook'] as const) await addTo(stack.sql, businessId, kind, { url })
    const contactId = await buy('first')
    expect(await rows()).toEqual([])
    const at = Date.now() - 5000
    await addVisitor(stack.sql, businessId, contactId, { latest: { at, clickIds: { fbclid: 'Fb', gclid: 'G' } } })
    await buy('order-7')
    const metrics = createMetrics()
    start({ metrics })
    await untilStates('sent', 'sent', 'sent')

    const [meta] = platform.heard.filter(({ path }) => path === '/v26.0/77/events')
    expect(meta?.headers).toMatchObject({ authorization: 'Bearer EAAB-token', 'user-agent': 'Sluice' })
    expect(JSON.parse(meta?.body ?? '')).toMatchObject({
      data: [{ event_id: 'order-7', user_data: { fbc: `fb.1.${at}.Fb` }, custom_data: { value: 5, currency: 'USD' } }],
    })
    const [token] = platform.heard.filter(({ path }) => path === '/token')
    expect(Object.fromEntries(new URLSearchParams(token?.body))).toEqual({
      grant_type: 'refresh_token',
      client_id: 'client',
      client_secret: 'shh',
      refresh_token: 'refresh',
    })
    const [google] = platform.heard.filter(({ path }) => path === '/v26/customers/12:uploadClickConversions')
    expect(google?.headers).toMatchObject({ authorization: 'Bearer ya29', 'developer-token': 'dev' })
    expect(JSON.parse(google?.body ?? '')).toMatchObject({ conversions: [{ gclid: 'G', orderId: 'order-7' }] })
    const [hook] = platform.heard.filter(({ path }) => path === '/hook')
    const [, seconds, mac] = /^t=(\d+),v1=(\w+)$/.exec(String(hook?.headers['sluice-signature'])) ?? []
    const expected = createHmac('sha256', SECRETS.webhook.signingKey).update(`${seconds}.${hook?.body}`).digest('hex')
    expect(mac).toBe(expected)
    expect(JSON.parse(hook?.body ?? '')).toMatchObject({ data: { contactId, clickIds: { fbclid: 'Fb', gclid: 'G' } } })
    expect(platform.heard).toHaveLength(4)
    // They are counted once they are saved.
    await expect.poll(() => metrics.registry.metrics()).toContain('deliveries_total{kind="google",outcome="sent"} 1')
  })

  it('that a caller dates ahead has happened, for platforms, when it is sent', async () => {
    const platforms = ['meta', 'google', 'webhook'] as const
    const withToken = json(200, { access_token: 'ya29', expires_in: 3600 })
    platform.reply = (response, heard) => (heard.path === '/token' ? withToken : OK)(response, heard)
    for (const kind of platforms) await addTo(stack.sql, businessId, kind, { url: platform.url })
    const contactId = await buy()
    const at = Date.now() - 5000
    await addVisitor(stack.sql, businessId, contactId, { latest: { at, clickIds: { fbclid: 'Fb', gclid: 'G' } } })
    const began = Math.floor(Date.now() / 1000) * 1000
    const ahead = began + 299_000
    await buy('ahead', ahead)
    start()
    await untilStates('sent', 'sent', 'sent')
    const bodyTo = (path: string) =>
      JSON.parse(platform.heard.find((heard) => heard.path === path)?.body ?? '') as Record<string, unknown>
    const { data } = bodyTo('/v26.0/77/events') as { data: [{ event_time: number }] }
    const { conversions } = bodyTo('/v26/customers/12:uploadClickConversions') as {
      conversions: [{ conversionDateTime: string }]
    }
    for (const sentAt of [data[0].event_time * 1000, Date.parse(conversions[0].conversionDateTime)]) {
      expect(sentAt).toBeGreaterThanOrEqual(began)
      expect(sentAt).toBeLessThanOrEqual(Date.now())
    }
    expect(bodyTo('/hook')).toMatchObject({ data: { occurredAt: new Date(ahead).toISOString() } })
  })

  it('is given up at once when it is refused, and tried again later when the platform is in trouble', async () => {
    await addTo(stack.sql, businessId, 'webhook', { url: platform.url, ...ALL })
    platform.reply = json(422, { why: 'ann@x.io' })
    await buy()
    start()
    await untilStates('dead')
    expect(await rows()).toMatchObject([{ attempts: 1, last_error: 'HTTP 422' }])

    platform.reply = json(500, {})
    await buy()
    await until(async () => (await rows())[1]?.last_error === 'HTTP 500')
    const [, second] = await rows()
    expect(second).toMatchObject({ state: 'queued', attempts: 1 })
    expect(second?.wait_seconds).toBeGreaterThan(25)
    expect(second?.wait_seconds).toBeLessThanOrEqual(60)
    platform.reply = OK
    await makeDue(stack.sql, businessId)
    await untilStates('dead', 'sent')
  })

  it('is given up after the set number of tries, later each time', async () => {
    await addTo(stack.sql, businessId, 'webhook', { url: platform.url, ...ALL })
    platform.reply = json(503, {})
    await buy()
    start()
    await untilTried(1)
    await makeDue(stack.sql, businessId)
    await until(async () => (await rows())[0]?.attempts === 2 && Number((await rows())[0]?.wait_seconds) > 60)
    expect(Number((await rows())[0]?.wait_seconds)).toBeLessThanOrEqual(180)
    await makeDue(stack.sql, businessId)
    await untilStates('dead')
    expect(await rows()).toMatchObject([{ attempts: 3, last_error: 'HTTP 503' }])
    expect(platform.heard).toHaveLength(3)
    expect(await attempts()).toMatchObject([
      { outcome: 'retry', reason: 'HTTP 503' },
      { outcome: 'retry', reason: 'HTTP 503' },
      { outcome: 'dead', reason: 'HTTP 503' },
    ])
    const times = (await attempts()).map(({ at }) => Date.parse(at))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  it('keeps its last ten attempts, and of those that sent nothing for one reason the newest', async () => {
    await addTo(stack.sql, businessId, 'webhook', { url: platform.url, ...ALL })
    await buy()
    const attempt = async (result: SendResult) => {
      await makeDue(stack.sql, businessId)
      const [claimed] = await claimDeliveries(stack.sql, { max: 1, perDestination: 1, leaseMs: 60_000 })
      if (claimed === undefined) throw new Error('nothing is due')
      await recordDelivery(stack.sql, claimed, result, { tries: 100 })
      await stack.sql`update destinations set held_until = '-infinity' where business_id = ${businessId}`
    }
    const reasons = async () => (await attempts()).map(({ outcome, reason }) => `${outcome} ${reason}`)
    for (let n = 1; n <= 10; n += 1) await attempt({ kind: 'retry', reason: `HTTP ${n}` })
    expect(await reasons()).toEqual(Array.from({ length: 10 }, (_, index) => `retry HTTP ${index + 1}`))
    await attempt({ kind: 'retry', reason: 'HTTP 11' })
    expect(await reasons()).toEqual(Array.from({ length: 10 }, (_, index) => `retry HTTP ${index + 2}`))
    for (const reason of ['no key', 'no key', 'no network']) await attempt({ kind: 'retry', reason, unsent: true })
    await attempt({ kind: 'sent' })
    expect((await reasons()).slice(-4)).toEqual(['retry HTTP 11', 'unsent no key', 'unsent no network', 'sent null'])
    expect(await attempts()).toHaveLength(10)
    expect(await rows()).toMatchObject([{ attempts: 12, state: 'sent' }])
  })

  it('waits as long as it is asked to, and the others for that destination too', async () => {
    await addTo(stack.sql, businessId, 'webhook', { url: platform.url, ...ALL })
    platform.reply = json(429, {}, { 'retry-after': '600' })
    await buy()
    start()
    await untilTried(1)
    expect(Number((await rows())[0]?.wait_seconds)).toBeGreaterThan(590)
    await buy()
    await new Promise((resolve) => setTimeout(resolve, 1500))
    expect(platform.heard).toHaveLength(1)
    platform.reply = OK
    await makeDue(stack.sql, businessId)
    await untilStates('sent', 'sent')
  })

  it.each([
    ['hangs', () => undefined, 'no answer in time'],
    [
      'hangs in the middle of a body',
      (response) => void response.writeHead(200, { 'content-length': '100' }).write('{'),
      'no answer in time',
    ],
    ['hangs up', (response) => void response.destroy(), 'not reached'],
    [
      'breaks off in the middle',
      (response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{"events_rec')
        setTimeout(() => response.destroy(), 50)
      },
      'not reached',
    ],
    [
      'talks without end',
      (response) => {
        response.writeHead(200)
        const talk = setInterval(() => response.write(' '.repeat(32_768)), 5)
        response.on('close', () => clearInterval(talk))
      },
      'unreadable response',
    ],
  ] satisfies [string, Platform['reply'], string][])(
    'is tried again when the platform %s',
    async (_, reply, reason) => {
      await addTo(stack.sql, businessId, 'meta', { url: platform.url })
      const contactId = await buy()
      await addVisitor(stack.sql, businessId, contactId, {
        latest: { at: Date.now() - 5000, clickIds: { fbclid: 'F' } },
      })
      await buy()
      platform.reply = reply
      start({ attemptMs: 700 })
      await untilTried(1)
      const [row] = await rows()
      expect(row).toMatchObject({ state: 'queued', attempts: 1 })
      expect(row?.last_error).toMatch(reason)
      // A destination that does not answer is held for a while; one that answers is not.
      if (reason.startsWith('no')) expect(await heldSeconds()).toBeGreaterThan(50)
      else expect(await heldSeconds()).toBe(-Infinity)
      platform.reply = OK
      await makeDue(stack.sql, businessId)
      await untilStates('sent')
    },
  )

  it.each([
    ['hangs', (response) => void response.writeHead(200, { 'content-length': '100' }).write('{')],
    [
      'breaks off',
      (response) => {
        response.writeHead(201, { 'content-length': '100' }).write('{')
        setTimeout(() => response.destroy(), 50)
      },
    ],
    [
      'never ends',
      (response) => {
        response.writeHead(200)
        const talk = setInterval(() => response.write('x'), 5)
        response.on('close', () => clearInterval(talk))
      },
    ],
  ] satisfies [string, Platform['reply']][])(
    'is taken when a webhook says so, though its body %s',
    async (_, reply: Platform['reply']) => {
      await addTo(stack.sql, businessId, 'webhook', { url: platform.url, ...ALL })
      const closed = Promise.withResolvers<void>()
      platform.reply = (response, heard) => {
        response.on('close', closed.resolve)
        reply(response, heard)
      }
      await buy()
      start({ attemptMs: 4000 })
      await untilStates('sent')
      expect(await rows()).toMatchObject([{ attempts: 1, last_error: null }])
      // The rest of the answer is not waited for.
      await closed.promise
      expect(platform.heard).toHaveLength(1)
    },
  )

  it('waits while the destination is down, follows no redirect, and keeps its reason free of addresses', async () => {
    const id = await addTo(stack.sql, businessId, 'webhook', ALL)
    await buy()
    start()
    await untilTried(1)
    expect((await rows())[0]?.last_error).toMatch(/^not reached/)
    expect((await rows())[0]?.last_error).not.toMatch(/127\.0|:9\b|hook/)
    const away = await openPlatform()
    platform.reply = (response) => void response.writeHead(307, { location: `${away.url}/hook` }).end()
    const settings = { url: `${platform.url}/hook`, all: true }
    await updateDestination(stack.sql, (await findDestination(stack.sql, id))!, { settings })
    await makeDue(stack.sql, businessId)
    await untilStates('dead')
    expect([platform.heard.length, away.heard.length]).toEqual([1, 0])
    await away.close()
  })

  it('waits for SECRETS_KEY and for the right one, however long that takes, and goes out once its secret is given again', async () => {
    const id = await addTo(stack.sql, businessId, 'webhook', { url: platform.url, ...ALL })
    await buy()
    const untilHeld = (reason: string) => until(async () => (await rows())[0]?.last_error?.startsWith(reason) === true)
    const wrong = 'SECRETS_KEY is not the one that the secret was sealed with'
    start({ config: { ...config, secretsKey: 'cd'.repeat(32) } })
    for (let time = 0; time <= config.deliveryTries; time += 1) {
      await untilHeld(wrong)
      await stack.sql`update deliveries set last_error = null`
      await makeDue(stack.sql, businessId)
    }
    await untilHeld(wrong)
    expect(await rows()).toMatchObject([{ state: 'queued', attempts: 0 }])
    stop.abort()
    await Promise.all(running)
    stop = new AbortController()
    await makeDue(stack.sql, businessId)
    start({ config: { ...config, secretsKey: undefined } })
    await untilHeld('SECRETS_KEY is not set: use the one that Sluice was started with')
    stop.abort()
    await Promise.all(running)
    stop = new AbortController()
    expect(platform.heard).toEqual([])

    // The delivery waits only for its destination: once that is repaired, the delivery is sent at once.
    const secretsKey = 'ef'.repeat(32)
    const secret = sealSecret(SECRETS.webhook, id, secretsKey)
    await updateDestination(stack.sql, (await findDestination(stack.sql, id))!, { secret })
    start({ config: { ...config, secretsKey } })
    await untilStates('sent')
    expect(await rows()).toMatchObject([{ attempts: 1 }])
  })

  it('with settings that this version cannot read waits, and keeps all of its attempts', async () => {
    await addTo(stack.sql, businessId, 'webhook', { url: platform.url, settings: { all: true, later: 1 } })
    await buy()
    start()
    await until(async () => (await rows())[0]?.last_error === 'there is no setting later. Remove it')
    expect(await rows()).toMatchObject([{ state: 'queued', attempts: 0 }])
    expect(await heldSeconds()).toBeGreaterThan(50)
  })

  it('to a refused address waits, with all its attempts before it, until it may go there', async () => {
    await addTo(stack.sql, businessId, 'webhook', { url: platform.url, ...ALL })
    await buy()
    const strict = guardOf({ port: 0, workerMetricsPort: undefined, allowLoopbackTargets: false })
    start({ guard: strict })
    const reason = '127.0.0.1 is not allowed as a target: it is this machine (ALLOW_LOOPBACK_TARGETS=true allows it)'
    await until(async () => (await rows())[0]?.last_error === reason)
    expect(await rows()).toMatchObject([{ state: 'queued', attempts: 0 }])
    expect(await heldSeconds()).toBeGreaterThan(50)
    expect(platform.heard).toEqual([])
    stop.abort()
    await Promise.all(running)
    stop = new AbortController()
    await makeDue(stack.sql, businessId)
    start()
    await untilStates('sent')
  })

  it('names the click it was queued for, though the person came back by another link and the visit is no longer stored', async () => {
    await addTo(stack.sql, businessId, 'meta', { url: platform.url })
    const contactId = await buy()
    const at = Date.now() - 5000
    const visitorId = await addVisitor(stack.sql, businessId, contactId, { latest: { at, clickIds: { fbclid: 'Fb' } } })
    await buy()
    platform.reply = json(503, {})
    start()
    await untilTried(1)
    const back = { at: Date.now(), url: 'https://shop.example/', clickIds: { gclid: 'G' } }
    const sighting = { business_id: businessId, visitor_id: visitorId, seen_at: back.at, latest_touch: back }
    await stack.sql`select see_visitors(${JSON.stringify([sighting])}::text::json)`
    await stack.sql`delete from visitor_touches where business_id = ${businessId} and at < ${back.at}`
    platform.reply = OK
    await makeDue(stack.sql, businessId)
    await untilStates('sent')
    expect(JSON.parse(platform.heard.at(-1)?.body ?? '')).toMatchObject({
      data: [{ user_data: { fbc: `fb.1.${at}.Fb` } }],
    })
  })

  it('whose person is erased while it is under way is not remembered, nor sent again', async () => {
    await addTo(stack.sql, businessId, 'webhook', { url: platform.url, ...ALL })
    const contactId = await buy()
    const let500 = Promise.withResolvers<void>()
    platform.reply = (...reply) => void let500.promise.then(() => json(500, {})(...reply))
    start()
    await until(async () => platform.heard.length === 1)
    await pipeline.apply({ kind: 'erase', businessId, receivedAt: NOW, contactId })
    let500.resolve()
    await new Promise((resolve) => setTimeout(resolve, 1500))
    expect(await rows()).toEqual([])
    expect(platform.heard).toHaveLength(1)
  })
})

describe('Google’s access token', () => {
  it('is requested once, and again when it is refused; a refused request delays the next one', async () => {
    await addTo(stack.sql, businessId, 'google', { url: platform.url })
    const contactId = await buy()
    await addVisitor(stack.sql, businessId, contactId, { latest: { at: Date.now() - 5000, clickIds: { gclid: 'G' } } })
    const tokens = () => platform.heard.filter(({ path }) => path === '/token').length
    let uploads = json(200, { results: [{}] })
    let token = json(200, { access_token: 'ya29', expires_in: 3600 })
    platform.reply = (response, heard) => (heard.path === '/token' ? token : uploads)(response, heard)
    start()
    await buy()
    await untilStates('sent')
    await buy()
    await untilStates('sent', 'sent')
    expect(tokens()).toBe(1)
    uploads = json(401, { error: { status: 'UNAUTHENTICATED' } })
    token = json(400, { error: 'invalid_grant', error_description: 'refresh' }, { 'retry-after': '3600' })
    await buy()
    await until(async () => (await rows())[2]?.last_error === 'HTTP 401')
    await makeDue(stack.sql, businessId)
    await until(async () => (await rows())[2]?.last_error === 'Google issued no access token: HTTP 400 invalid_grant')
    expect(await states()).toEqual(['sent', 'sent', 'queued'])
    const [{ wait }] = await stack.sql<[{ wait: number }]>`
      select extract(epoch from next_attempt_at - now())::float8 as wait from deliveries
      where business_id = ${businessId} and state = 'queued'`
    expect(wait).toBeGreaterThan(3500)
  })
})

describe('several senders', () => {
  it('send each delivery once, and no more than four at a time to one destination', async () => {
    await addTo(stack.sql, businessId, 'webhook', { url: platform.url, ...ALL })
    platform.reply = (...reply) => void setTimeout(() => OK(...reply), 20)
    await pipeline.apply(
      ...Array.from({ length: 60 }, (_, n) => track(businessId, eventFact('purchase', ANN, { value: n }))),
    )
    for (let sender = 0; sender < 3; sender += 1) start()
    await until(async () => (await states()).every((state) => state === 'sent'))
    const ids = platform.heard.map(({ body }) => (JSON.parse(body) as { id: string }).id)
    expect([ids.length, new Set(ids).size]).toEqual([60, 60])
    expect(platform.crowd()).toBeLessThanOrEqual(4)
    expect(platform.crowd()).toBeGreaterThan(1)
  })

  it('begin when the very first destination is added', async () => {
    await stack.sql`delete from destinations`
    start()
    await new Promise((resolve) => setTimeout(resolve, 500))
    await addTo(stack.sql, businessId, 'webhook', { url: platform.url, ...ALL })
    await buy()
    await until(async () => (await states()).includes('sent'))
    expect(platform.heard).toHaveLength(1)
  })

  it('do not let a slow destination delay another', async () => {
    const other = await createBusiness(stack.sql)
    await addTo(stack.sql, businessId, 'webhook', { url: platform.url, ...ALL })
    platform.reply = () => undefined
    const quick = await openPlatform()
    await addTo(stack.sql, other.businessId, 'webhook', { url: quick.url, ...ALL })
    const of = (id: string, n: number) => track(id, eventFact('purchase', { email: `p${n}@x.io` }, { value: n }))
    await pipeline.apply(...Array.from({ length: 40 }, (_, n) => of(businessId, n)))
    start({ attemptMs: 4000 })
    await vi.waitUntil(() => platform.heard.length === 4, soon)
    await pipeline.apply(of(other.businessId, 1))
    await vi.waitUntil(() => quick.heard.length === 1, { timeout: 2500, interval: 20 })
    await quick.close()
  })

  it('claim what another sender did not settle in time, and the late result of that one does not count', async () => {
    await addTo(stack.sql, businessId, 'webhook', ALL)
    await buy()
    const limits = { max: 10, perDestination: 4, leaseMs: 200 }
    const [late] = await claimDeliveries(stack.sql, limits)
    expect(await claimDeliveries(stack.sql, limits)).toEqual([])
    await new Promise((resolve) => setTimeout(resolve, 250))
    const [taken] = await claimDeliveries(stack.sql, { ...limits, leaseMs: 30_000 })
    expect([late?.attempts, taken?.attempts, taken?.id]).toEqual([1, 2, late?.id])
    const tooLate = [
      { kind: 'dead', reason: 'late' },
      { kind: 'retry', reason: 'late', holdsDestination: true, afterMs: 60_000 },
    ] as const
    for (const result of tooLate) expect(await recordDelivery(stack.sql, late!, result, { tries: 3 })).toBeUndefined()
    expect(await rows()).toMatchObject([{ state: 'queued', last_error: null }])
    expect(await heldSeconds()).toBe(-Infinity)
    expect(await recordDelivery(stack.sql, taken!, { kind: 'sent' }, { tries: 3 })).toBe('sent')
    expect(await states()).toEqual(['sent'])
  })

  it('that were paused until the claim may run out send nothing, and this does not count as an attempt', async () => {
    await addTo(stack.sql, businessId, 'webhook', { url: platform.url, ...ALL })
    await buy()
    start({ attemptMs: 1000, leaseMs: 1000 })
    await until(async () => (await rows())[0]?.last_error === 'the sending process was paused')
    stop.abort()
    await Promise.all(running)
    expect([await rows(), platform.heard]).toMatchObject([[{ state: 'queued', attempts: 0 }], []])
  })

  it('at the same moment take no more than a destination may have', async () => {
    await addTo(stack.sql, businessId, 'webhook', ALL)
    await pipeline.apply(
      ...Array.from({ length: 20 }, () => track(businessId, eventFact('purchase', ANN, { value: 1 }))),
    )
    const limits = { max: 3, perDestination: 4, leaseMs: 30_000 }
    const claims = await Promise.all(Array.from({ length: 4 }, () => claimDeliveries(stack.sql, limits)))
    const more = await claimDeliveries(stack.sql, limits)
    const taken = [...claims.flat(), ...more].map(({ id }) => id)
    expect(new Set(taken).size).toBe(taken.length)
    expect(taken.length).toBe(4)
  })

  it('send nothing for a business or a destination that is switched off', async () => {
    const id = await addTo(stack.sql, businessId, 'webhook', ALL)
    await buy()
    const claim = () => claimDeliveries(stack.sql, { max: 10, perDestination: 4, leaseMs: 1 })
    await stack.sql`update businesses set active = false where id = ${businessId}`
    expect(await claim()).toEqual([])
    await stack.sql`update businesses set active = true where id = ${businessId}`
    await updateDestination(stack.sql, (await findDestination(stack.sql, id))!, { active: false })
    expect(await claim()).toEqual([])
    await updateDestination(stack.sql, (await findDestination(stack.sql, id))!, { active: true })
    expect(await claim()).toHaveLength(1)
  })
})

describe('what is known of deliveries', () => {
  it('is measured: those that wait, those given up, and how late the oldest is', async () => {
    await addTo(stack.sql, businessId, 'webhook', ALL)
    await pipeline.apply(...[1, 2, 3].map((value) => track(businessId, eventFact('purchase', ANN, { value }))))
    await stack.sql`update deliveries set next_attempt_at = now() - interval '50 seconds' where amount = 1`
    await stack.sql`update deliveries set next_attempt_at = now() + interval '50 seconds' where amount = 2`
    await stack.sql`update deliveries set state = 'dead' where amount = 3`
    const metrics = createMetrics()
    await observeDeliveries(stack.sql, metrics)
    const text = await metrics.registry.metrics()
    expect(text).toMatch(/^deliveries_queued 2$/m)
    expect(text).toMatch(/^deliveries_dead 1$/m)
    expect(text).toMatch(/^deliveries_lag_seconds 50\./m)
  })

  it('is deleted in time, except what still waits', async () => {
    await addTo(stack.sql, businessId, 'webhook', ALL)
    await pipeline.apply(...[1, 2, 3].map((value) => track(businessId, eventFact('purchase', ANN, { value }))))
    await stack.sql`update deliveries set state = 'sent', settled_at = now() - interval '61 seconds' where amount = 1`
    await stack.sql`update deliveries set state = 'dead', settled_at = now() - interval '59 seconds' where amount = 2`
    expect(await purgeDeliveries(stack.sql, 60_000)).toBe('done')
    expect((await rows()).map(({ amount }) => amount)).toEqual(['2', '3'])
  })

  it('is deleted step by step, however many deliveries there are', async () => {
    const destination = await addTo(stack.sql, businessId, 'webhook', ALL)
    await stack.sql`
      insert into deliveries (business_id, id, destination_id, event_id, contact_id, event, type, occurred_at, clicks, state, settled_at)
      select ${businessId}, gen_random_uuid(), ${destination}, gen_random_uuid(), gen_random_uuid(), 'e', 'lead', 0, '{}', 'sent',
        now() - interval '2 days'
      from generate_series(1, 4001)`
    start()
    await until(async () => (await rows()).length === 0)
  })
})
