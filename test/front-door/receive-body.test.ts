/** A caller whose key was revoked is refused, even if its body began before the revocation (decisions, "Keys"). */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { RequestContext, AppContext } from '../../src/front-door/app-context.ts'
import type { Business, KeyHolder } from '../../src/businesses/find-business.ts'
import { BODY_LIMITS } from '../../src/front-door/http/read-body.ts'
import { STALE_MS, receiveBody } from '../../src/front-door/http/receive-body.ts'
import { type FrontDoor, runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { type Line, openLine, readAnswers } from '../support/speak-raw.ts'
import { type Stack, type TestBusiness, createBusiness, openStack } from '../support/stack.ts'
import { ASYNC, BROWSER, type Speak, speakTo } from './http-client.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

describe('a body', () => {
  const BUSINESS: Business = {
    id: 'b',
    name: 'Test',
    active: true,
    removed: false,
    rateLimit: 120,
    currency: 'USD',
    country: null,
    timezone: 'UTC',
    origins: [],
    bots: 'ignore',
    webTriggers: [],
  }
  const BEGAN = 1_000_000
  afterEach(() => void vi.restoreAllMocks())

  /** Passes a body that is complete `ms` after its call began. `now` is the holder of its key at that time. */
  function arriveAfter(ms: number, now: KeyHolder | null) {
    const keyHolders = vi.fn<() => KeyHolder | null>(() => now)
    const frontDoor = {
      inFlight: { count: 1, bytes: 0, bytesOf: new Map() },
      keyHolders,
    } as Partial<AppContext> as AppContext
    const headers = { 'content-type': 'application/json', authorization: 'Bearer sk_live_x', 'content-length': '2' }
    const request = new Request('http://localhost', { method: 'POST', headers, body: '{}' })
    const sent: Partial<RequestContext> = {
      request,
      startedAt: BEGAN,
      bodyQuotaKey: 'b',
      bodyBytes: 0,
      address: () => '::1',
    }
    vi.spyOn(performance, 'now').mockReturnValue(BEGAN + ms)
    return { keyHolders, received: receiveBody(frontDoor, sent as RequestContext, BUSINESS, BODY_LIMITS.single) }
  }
  const changed: KeyHolder = { keyId: 'k', kind: 'secret', hint: '1234', business: { ...BUSINESS, currency: 'ILS' } }

  it('that comes at once needs no second look-up of its key', async () => {
    const { keyHolders, received } = arriveAfter(STALE_MS - 1, null)
    expect(await received).toEqual({ business: BUSINESS, body: {} })
    expect(keyHolders).not.toHaveBeenCalled()
  })

  it('that took longer gets the present state of its business', async () => {
    const { keyHolders, received } = arriveAfter(STALE_MS, changed)
    expect(await received).toEqual({ business: changed.business, body: {} })
    expect(keyHolders).toHaveBeenCalledTimes(1)
  })

  it.each([
    ['invalid_api_key', null],
    ['business_inactive', { ...changed, business: { ...BUSINESS, active: false } }],
    ['business_not_found', { ...changed, business: { ...BUSINESS, removed: true } }],
  ])('that took longer is refused for the reason that holds now: %s', async (code, now) => {
    await expect(arriveAfter(STALE_MS, now).received).rejects.toMatchObject({ code })
  })
})

describe('a slow body', () => {
  let stack: Stack
  let frontDoor: FrontDoor
  let speak: Speak
  const lines: Line[] = []
  beforeAll(async () => {
    stack = await openStack({ TRUST_PROXY: 'true', ANSWER_TIMEOUT_MS: '1' })
    frontDoor = await runFrontDoor(stack.config)
    speak = speakTo(frontDoor.url)
  })
  afterEach(() => {
    for (const line of lines.splice(0)) line.hangUp()
  })
  afterAll(async () => {
    await frontDoor.close()
    await stack.close()
  })

  const EVENT = { event: 'signup', identity: { email: 'ada@example.com' } }
  const VISITOR = '5'.repeat(32)
  const HIT = { id: 'h1', kind: 'page_view', ageMs: 0, pageId: 'p1', url: 'https://a.example/' }
  const SENT = [
    ['POST', '/api/sdk/track', 'secretKey', EVENT],
    ['POST', '/api/sdk/track/batch', 'secretKey', { events: [EVENT] }],
    ['POST', '/api/sdk/identify', 'secretKey', { identity: EVENT.identity }],
    ['POST', '/api/sdk/identify', 'publishableKey', { identity: EVENT.identity }],
    ['POST', '/api/sdk/browser/track', 'publishableKey', { event: 'demo', visitorId: VISITOR }],
    ['POST', '/api/sdk/browser/capture', 'publishableKey', { visitorId: VISITOR, hits: [HIT] }],
    ['POST', '/api/sdk/browser/push', 'publishableKey', { visitorId: VISITOR }],
    ['PUT', `/api/contacts/${randomUUID()}/subscriptions`, 'secretKey', { email: true, method: 'form' }],
    ['POST', '/api/campaigns', 'secretKey', { name: 'n', trigger: { event: 'e' } }],
  ] as const

  /**
   * Sends all calls except for their last character. Returns a function that sends it and resolves with the answers.
   */
  async function sendSlowly(of: TestBusiness): Promise<() => Promise<[number, string | undefined][]>> {
    // Every key is in the cache before its slow call, as in normal traffic.
    for (const key of [of.secretKey, of.publishableKey]) await speak('POST', '/api/sdk/track', { key, json: EVENT })
    const opened = await Promise.all(SENT.map(() => openLine(frontDoor.url)))
    lines.push(...opened)
    for (const [at, [method, path, key, json]] of SENT.entries()) {
      const body = JSON.stringify(json)
      const headers = {
        host: 'x',
        connection: 'close',
        'content-type': 'application/json',
        'content-length': body.length,
        authorization: `Bearer ${of[key]}`,
        ...BROWSER,
        ...ASYNC,
      }
      const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      opened[at]?.say(`${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n${body.slice(0, -1)}`)
    }
    // Includes the request for the metrics.
    const expected = new RegExp(`^http_requests_in_flight ${lines.length + 1}$`, 'm')
    await expect.poll(async () => (await speak('GET', '/metrics')).text, { timeout: PATIENCE_MS }).toMatch(expected)
    return async () => {
      for (const line of opened) line.say('}')
      await Promise.all(opened.map(({ ended }) => ended))
      return opened.map((line) => {
        const [answer] = readAnswers(line.heard())
        const { error } = JSON.parse(answer?.body ?? '') as { error?: { code: string } }
        return [answer?.status ?? 0, error?.code]
      })
    }
  }

  it('is refused when its key is revoked, or its business switched off, in the middle of it; others are taken', async () => {
    const [revoked, inactive, well] = [
      await createBusiness(stack.sql),
      await createBusiness(stack.sql),
      await createBusiness(stack.sql),
    ]
    const [ofRevoked, ofInactive, ofWell] = [
      await sendSlowly(revoked),
      await sendSlowly(inactive),
      await sendSlowly(well),
    ]
    await stack.sql`update api_keys set revoked_at = now() where business_id = ${revoked.businessId}`
    await stack.sql`update businesses set active = false where id = ${inactive.businessId}`
    await sleep(1000)
    expect(await ofRevoked()).toEqual(SENT.map(() => [401, 'invalid_api_key']))
    expect(await ofInactive()).toEqual(SENT.map(() => [403, 'business_inactive']))
    expect((await ofWell()).filter(([status]) => status >= 300)).toEqual([])
    const kept = await stack.sql<{ business_id: string }[]>`select business_id from campaigns`
    expect(kept).toEqual([{ business_id: well.businessId }])
  })
})
