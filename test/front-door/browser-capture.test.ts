/** The data that pages may capture, at each limit and one past it. Captures have partitions of their own. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_AGE_MS } from '../../src/front-door/routes/browser/read-browser-event.ts'
import type { IngestRequest } from '../../src/stream/entry.ts'
import { streamKey } from '../../src/stream/keys.ts'
import { allPartitions } from '../../src/stream/partitions/partition-of.ts'
import { type TestBusiness, type Stack, createBusiness, openStack } from '../support/stack.ts'
import { runFrontDoor, type FrontDoor } from '../../src/front-door/run-front-door.ts'
import { newVisitor } from '../web-events/web-lab.ts'
import { type Said, speakTo } from './http-client.ts'

const PATH = '/api/sdk/browser/capture'
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'
const DAY = 86_400_000
const WEEK = MAX_AGE_MS

let stack: Stack
let frontDoor: FrontDoor
let business: TestBusiness
beforeAll(async () => {
  stack = await openStack({ TRUST_PROXY: 'true' })
  frontDoor = await runFrontDoor(stack.config)
  business = await createBusiness(stack.sql)
})
afterAll(async () => {
  await frontDoor.close()
  await stack.close()
})

let addresses = 0
/** Sends from a new address, unless the headers give one. */
function send(json: unknown, headers: Record<string, string> = {}, said: Said = {}) {
  addresses += 1
  const address = `10.0.${Math.floor(addresses / 250)}.${addresses % 250}`
  return speakTo(frontDoor.url)('POST', PATH, {
    ...(said.raw === undefined && { json }),
    ...said,
    headers: { 'user-agent': BROWSER, 'x-forwarded-for': address, ...headers },
  })
}

const hit = (more: object = {}) => ({
  id: 'h1',
  kind: 'page_view',
  ageMs: 0,
  pageId: 'p1',
  url: 'https://a.example/',
  ...more,
})
const body = (more: object = {}) => ({
  businessId: business.businessId,
  visitorId: newVisitor(),
  hits: [hit()],
  ...more,
})

/** Returns every request in the streams, with its partition. */
async function inStreams(): Promise<{ partition: string; request: IngestRequest }[]> {
  const found = await Promise.all(
    allPartitions(2).map(async (partition) => {
      const entries = await stack.redis.xrange(streamKey(partition), '-', '+')
      return entries.flatMap(([, fields]) =>
        (JSON.parse(fields[1] ?? '') as { requests: IngestRequest[] }).requests.map((request) => ({
          partition,
          request,
        })),
      )
    }),
  )
  return found.flat()
}

async function taken(visitorId: string) {
  const those = (await inStreams()).filter(({ request }) => 'visitorId' in request && request.visitorId === visitorId)
  return those.map(({ request }) => request as IngestRequest & { kind: 'capture' })
}

describe('what a page sends of itself', () => {
  it('is received at once, in a partition of its own, whatever its name', async () => {
    const sent = body({
      hits: [
        hit({ ageMs: 1500, title: 'A\ud800', referrer: 'https://b.example/' }),
        hit({ id: 'h2', kind: 'time', activeMs: 7, idleMs: 8 }),
      ],
    })
    const answer = await send(sent)
    expect([answer.status, answer.body.data]).toEqual([200, { received: 2 }])
    const found = (await inStreams()).filter(({ request }) => request.kind === 'capture')
    expect(found.map(({ partition }) => partition.split('-')[0])).toEqual(['web'])
    const request = found[0]?.request as IngestRequest & { kind: 'capture' }
    expect(request).toMatchObject({
      businessId: business.businessId,
      visitorId: sent.visitorId,
      touches: { first: null, latest: null },
      hits: [
        { id: 'h1', kind: 'page_view', title: 'A\uFFFD', referrer: 'https://b.example/', activeMs: 0 },
        { id: 'h2', kind: 'time', title: '', activeMs: 7, idleMs: 8 },
      ],
    })
    expect(request.receivedAt - (request.hits[0]?.occurredAt ?? 0)).toBe(1500)
  })

  it('may be text, as a beacon says; nothing else', async () => {
    const raw = JSON.stringify(body())
    const typed = (type: string) => send(null, { 'content-type': type, origin: 'null' }, { raw })
    expect((await typed('text/plain;charset=UTF-8')).status).toBe(200)
    expect((await typed('application/x-www-form-urlencoded')).status).toBe(415)
  })

  it('is kept with how the visitor came', async () => {
    const first = {
      ageMs: 400 * DAY,
      url: 'https://a.example/',
      utm: { source: 'news', other: 'x' },
      clickIds: { gclid: 'g1' },
    }
    const sent = body({ first, latest: { ageMs: 5, url: 'https://a.example/b', referrer: 'https://c.example/' } })
    await send(sent)
    const [request] = await taken(sent.visitorId)
    const now = request?.receivedAt ?? 0
    expect(request?.touches).toEqual({
      first: {
        at: now - 400 * DAY,
        url: 'https://a.example/',
        utm: { source: 'news' },
        clickIds: { gclid: 'g1' },
      },
      latest: { at: now - 5, url: 'https://a.example/b', referrer: 'https://c.example/' },
    })
  })

  it('says how the visitor came only with a page view', async () => {
    const sent = body({ hits: [hit({ kind: 'time', activeMs: 5 })], first: { ageMs: 0, url: 'https://a.example/' } })
    expect((await send(sent)).status).toBe(200)
    const [request] = await taken(sent.visitorId)
    expect(request?.touches).toEqual({ first: null, latest: null })
  })

  it('has a time of a week and an hour ago if it is older', async () => {
    const sent = body({ hits: [hit({ ageMs: WEEK }), hit({ id: 'h2', ageMs: WEEK + 1 })] })
    await send(sent)
    const [request] = await taken(sent.visitorId)
    expect(request?.hits.map(({ occurredAt }) => (request?.receivedAt ?? 0) - occurredAt)).toEqual([WEEK, WEEK])
  })

  it('is not kept when a bot sends it, and the answer says so', async () => {
    const sent = body()
    const answer = await send(sent, {
      'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    })
    expect([answer.status, answer.body.data]).toEqual([200, { received: 1, ignored: 'bot' }])
    expect(await taken(sent.visitorId)).toEqual([])
    const { text } = await speakTo(frontDoor.url)('GET', '/metrics')
    expect(text).toMatch(/^browser_bots_total\{route="browser-capture"\} 1$/m)
  })
})

describe('its limits', () => {
  const hits = (count: number) => Array.from({ length: count }, (_, at) => hit({ id: `h${at}` }))

  it.each<[string, () => object, () => object]>([
    ['50 hits', () => ({ hits: hits(50) }), () => ({ hits: hits(51) })],
    ['one hit', () => ({ hits: hits(1) }), () => ({ hits: [] })],
    [
      'a hit id of 64 characters',
      () => ({ hits: [hit({ id: 'x'.repeat(64) })] }),
      () => ({ hits: [hit({ id: 'x'.repeat(65) })] }),
    ],
    [
      'a page id of 64 characters',
      () => ({ hits: [hit({ pageId: 'x'.repeat(64) })] }),
      () => ({ hits: [hit({ pageId: 'x'.repeat(65) })] }),
    ],
    [
      'an address of 2,048 characters',
      () => ({ hits: [hit({ url: 'x'.repeat(2048) })] }),
      () => ({ hits: [hit({ url: 'x'.repeat(2049) })] }),
    ],
    [
      'a title of 256 characters',
      () => ({ hits: [hit({ title: 'x'.repeat(256) })] }),
      () => ({ hits: [hit({ title: 'x'.repeat(257) })] }),
    ],
    [
      'a referrer of 2,048 characters',
      () => ({ hits: [hit({ referrer: 'x'.repeat(2048) })] }),
      () => ({ hits: [hit({ referrer: 'x'.repeat(2049) })] }),
    ],
    [
      'a depth of 100',
      () => ({ hits: [hit({ kind: 'scroll', depth: 100 })] }),
      () => ({ hits: [hit({ kind: 'scroll', depth: 101 })] }),
    ],
    [
      'a landing page of 512 characters',
      () => ({ first: { ageMs: 0, url: 'x'.repeat(512) } }),
      () => ({ first: { ageMs: 0, url: 'x'.repeat(513) } }),
    ],
    [
      'a campaign of 512 characters',
      () => ({ latest: { ageMs: 0, url: 'x', utm: { campaign: 'x'.repeat(512) } } }),
      () => ({ latest: { ageMs: 0, url: 'x', utm: { campaign: 'x'.repeat(513) } } }),
    ],
    ['an age of 0', () => ({ hits: [hit({ ageMs: 0 })] }), () => ({ hits: [hit({ ageMs: -1 })] })],
    ['a visitor of 32 digits', () => ({ visitorId: 'a'.repeat(32) }), () => ({ visitorId: 'a'.repeat(33) })],
    ['a known kind', () => ({ hits: [hit({ kind: 'scroll' })] }), () => ({ hits: [hit({ kind: 'purchase' })] })],
    ['a clean id', () => ({ hits: [hit({ id: 'a b' })] }), () => ({ hits: [hit({ id: 'a\0b' })] })],
  ])('%s', async (_, within, past) => {
    expect((await send(body(within()))).status).toBe(200)
    const answer = await send(body(past()))
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request'])
  })

  it('64 KiB', async () => {
    const padded = (bytes: number) => {
      const json = JSON.stringify(body())
      return json + ' '.repeat(bytes - json.length)
    }
    const headers = { 'content-type': 'text/plain' }
    expect((await send(null, headers, { raw: padded(64 * 1024) })).status).toBe(200)
    expect((await send(null, headers, { raw: padded(64 * 1024 + 1) })).status).toBe(413)
  })

  it('60 requests a minute of one visitor', async () => {
    const one = body()
    const statuses = await Promise.all(Array.from({ length: 60 }, async () => (await send(one)).status))
    expect(new Set(statuses)).toEqual(new Set([200]))
    const refused = await send(one)
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await send(body())).status).toBe(200)
  })

  it('a hundred times the limit of the business, which its servers keep', async () => {
    const { businessId, secretKey } = await createBusiness(stack.sql, { rateLimit: 2 })
    const sent = () => send(body({ businessId }))
    await stack.redis.hset(`sluice:limit:browser-capture-unkeyed:${businessId}`, { used: 199, opened: 'now' })
    await stack.redis.pexpire(`sluice:limit:browser-capture-unkeyed:${businessId}`, 30_000)
    expect([(await sent()).status, (await sent()).status]).toEqual([200, 429])
    const json = { event: 'e', identity: { email: 'ann@x.io' } }
    const headers = { prefer: 'respond-async' }
    expect((await speakTo(frontDoor.url)('POST', '/api/sdk/track', { key: secretKey, json, headers })).status).toBe(202)
  })

  it('1,200 requests a minute of one address', async () => {
    const from = { 'x-forwarded-for': '192.0.2.7' }
    await stack.redis.hset('sluice:limit:browser-capture-address:192.0.2.7', { used: 1199, opened: 'now' })
    await stack.redis.pexpire('sluice:limit:browser-capture-address:192.0.2.7', 30_000)
    expect((await send(body(), from)).status).toBe(200)
    expect((await send(body(), from)).status).toBe(429)
    expect((await send(body(), { 'x-forwarded-for': '192.0.2.8' })).status).toBe(200)
  })
})

it('a full partition refuses a call, and asks for it again five to ten seconds later', async () => {
  const full = await runFrontDoor({ ...stack.config, backlogLimitBytes: 1 })
  const json = body()
  const sendAgain = () => speakTo(full.url)('POST', PATH, { json, headers: { 'user-agent': BROWSER } })
  await sendAgain()
  const answer = await sendAgain()
  await full.close()
  expect([answer.status, answer.body.error.code]).toEqual([503, 'unavailable'])
  const seconds = Number(answer.headers.get('retry-after'))
  expect(seconds).toBeGreaterThanOrEqual(5)
  expect(seconds).toBeLessThanOrEqual(10)
})

describe('whose page it is', () => {
  it('is said by its business id', async () => {
    expect((await send(body({ businessId: undefined }))).status).toBe(400)
    expect((await send(body({ businessId: crypto.randomUUID() }))).status).toBe(404)
    expect((await send(body(), { authorization: 'Bearer sk_live_wrong' })).status).toBe(401)
    const inactive = await createBusiness(stack.sql, { active: false })
    expect((await send(body({ businessId: inactive.businessId }))).status).toBe(403)
  })

  it('has to be one that the business allows', async () => {
    const fenced = await createBusiness(stack.sql, { origins: ['https://shop.example'] })
    const sent = body({ businessId: fenced.businessId })
    expect((await send(sent, { origin: 'https://shop.example' })).status).toBe(200)
    for (const origin of ['https://evil.example', 'null']) {
      const answer = await send(sent, { origin })
      expect([answer.status, answer.body.error.code]).toEqual([403, 'origin_not_allowed'])
    }
  })

  it('may read the answer, and for how long to wait', async () => {
    const asked = await speakTo(frontDoor.url)('OPTIONS', PATH)
    expect([asked.status, asked.headers.get('access-control-allow-headers')]).toEqual([204, 'content-type'])
    const { headers } = await send(body())
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-expose-headers')).toBe('Retry-After')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
    expect(headers.get('set-cookie')).toBeNull()
  })
})
