/**
 * Who may call, what calls cost, and what every answer contains (contract, "Authentication"; decisions, "Envelope").
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FrontDoor, runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { createBusiness, openStack, type Stack, type TestBusiness } from '../support/stack.ts'
import { type Answer, ASYNC, BROWSER, type Said, type Speak, speakTo } from './http-client.ts'

let stack: Stack
let frontDoor: FrontDoor
let speak: Speak
let tenant: TestBusiness
beforeAll(async () => {
  stack = await openStack({ TRUST_PROXY: 'true' })
  frontDoor = await runFrontDoor(stack.config)
  speak = speakTo(frontDoor.url)
  tenant = await createBusiness(stack.sql)
})
afterAll(async () => {
  await frontDoor.close()
  await stack.close()
})

const EVENT = { event: 'signup', identity: { email: 'ada@example.com' } }
const KEYED = ['/api/sdk/track', '/api/sdk/track/batch'] as const
const code = ({ status, body }: Answer) => [status, body.error?.code]
const track = (key: string | undefined, said: Said = { json: EVENT }) =>
  speak('POST', '/api/sdk/track', { key, ...said, headers: { ...ASYNC, ...said.headers } })

let addresses = 0
/** A new address keeps the limits of one test out of the next. */
const fromElsewhere = () => ({ 'x-forwarded-for': `198.51.100.${(addresses += 1)}` })

describe.each(KEYED)('%s', (path) => {
  const post = (headers: Record<string, string>, raw = 'not json') => speak('POST', path, { raw, headers })

  it('needs a key, before anything else', async () => {
    const answer = await post({})
    expect(code(answer)).toEqual([401, 'missing_api_key'])
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  })

  it.each([
    ['an unknown key', 'Bearer sk_live_unknown'],
    ['another scheme', 'Basic c2tfbGl2ZV8='],
    ['no key after the scheme', 'Bearer'],
    ['two keys', 'Bearer sk_live_a sk_live_b'],
    ['a word', 'sk_live_a'],
  ])('refuses %s', async (_, authorization) => {
    const answer = await post({ authorization, ...fromElsewhere() })
    expect(code(answer)).toEqual([401, 'invalid_api_key'])
    expect(answer.text).not.toContain('sk_live')
  })

  it('says what a key without its scheme lacks', async () => {
    const { text } = await post({ authorization: tenant.secretKey, ...fromElsewhere() })
    expect(text).toContain('does not begin with Bearer')
  })

  it('refuses a publishable key', async () => {
    expect(code(await post({ authorization: `Bearer ${tenant.publishableKey}` }))).toEqual([403, 'publishable_key'])
  })

  it('answers a preflight, and every method but POST, with 405 and no CORS', async () => {
    const origin = { origin: 'https://shop.example', 'access-control-request-method': 'POST' }
    for (const method of ['OPTIONS', 'GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await speak(method, path, { headers: origin })
      expect(answer.status).toBe(405)
      expect(answer.headers.get('allow')).toBe('POST')
      if (method !== 'HEAD') expect(answer.body.error.code).toBe('method_not_allowed')
    }
    const posted = await post({ ...origin, authorization: `Bearer ${tenant.secretKey}` })
    for (const name of posted.headers.keys()) expect(name).not.toMatch(/^access-control-/)
  })
})

describe('a key', () => {
  it('works whatever the letters of its scheme', async () => {
    const headers = { authorization: `bearer  ${tenant.secretKey}`, 'content-type': 'application/json', ...ASYNC }
    const answer = await speak('POST', '/api/sdk/track', { raw: JSON.stringify(EVENT), headers })
    expect(answer.status).toBe(202)
  })

  it('works with the older prefix', async () => {
    const key = `sluice_live_${randomUUID()}`
    await stack.sql`insert into api_keys (id, business_id, kind, key_hash, hint)
      values (${randomUUID()}, ${tenant.businessId}, 'secret', sha256(${key}::bytea), 'xxxx')`
    expect((await track(key)).status).toBe(202)
  })

  it('stops working within a second of its revocation', async () => {
    const { businessId, secretKey } = await createBusiness(stack.sql)
    expect((await track(secretKey)).status).toBe(202)
    await stack.sql`update api_keys set revoked_at = now() where business_id = ${businessId}`
    await sleep(1000)
    expect(code(await track(secretKey))).toEqual([401, 'invalid_api_key'])
  })

  it('is answered within a second that its business is inactive or removed', async () => {
    const { businessId, secretKey } = await createBusiness(stack.sql)
    await stack.sql`update businesses set active = false where id = ${businessId}`
    expect(code(await track(secretKey))).toEqual([403, 'business_inactive'])
    await stack.sql`update businesses set removed_at = now() where id = ${businessId}`
    await sleep(1000)
    expect(code(await track(secretKey))).toEqual([404, 'business_not_found'])
  })

  it('is guessed sixty times a minute from one address, not more', async () => {
    const headers = fromElsewhere()
    for (let guess = 0; guess < 60; guess += 1) {
      expect((await track(`sk_live_${guess}`, { headers })).status).toBe(401)
    }
    const refused = await track('sk_live_61', { headers })
    expect(code(refused)).toEqual([429, 'rate_limited'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(code(await track('sk_live_61', { headers: fromElsewhere() }))).toEqual([401, 'invalid_api_key'])
  })

  it('is guessed no more often by a caller who makes up addresses: the proxy adds the true one at the end', async () => {
    const [seen] = Object.values(fromElsewhere())
    const guess = (at: number) =>
      track(`sk_live_made_up_${at}`, { headers: { 'x-forwarded-for': `203.0.113.${at}, ${seen}` } })
    for (let at = 0; at < 60; at += 1) expect((await guess(at)).status).toBe(401)
    expect(code(await guess(60))).toEqual([429, 'rate_limited'])
  })

  it('is guessed no more often from all the addresses of one IPv6 network', async () => {
    const guess = (at: number) =>
      track(`sk_live_ipv6_${at}`, { headers: { 'x-forwarded-for': `2001:db8:1:2::${at.toString(16)}` } })
    for (let at = 0; at < 60; at += 1) expect((await guess(at)).status).toBe(401)
    expect(code(await guess(60))).toEqual([429, 'rate_limited'])
  })

  it('is not guessed more often by asking all at once', async () => {
    const headers = fromElsewhere()
    const guesses = Array.from({ length: 200 }, (_, at) => track(`sk_live_at_once_${at}`, { headers }))
    const statuses = (await Promise.all(guesses)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(60)
    expect(statuses.filter((status) => status === 429)).toHaveLength(140)
  })
})

describe('the rate limit', () => {
  const limits = ({ headers }: Answer) => [headers.get('ratelimit-policy'), headers.get('ratelimit')]

  it('counts what was let in, and says how much is left', async () => {
    const { secretKey } = await createBusiness(stack.sql, { rateLimit: 3 })
    const started = performance.now()
    expect(limits(await track(secretKey))).toEqual(['"default";q=3;w=60', '"default";r=2;t=60'])
    expect((await track(secretKey, { json: { events: [] } })).headers.get('ratelimit')).toMatch(/^"default";r=1;t=/)
    const batch = { events: Array.from({ length: 500 }, () => EVENT) }
    const sent = await speak('POST', '/api/sdk/track/batch', { key: secretKey, json: batch, headers: ASYNC })
    expect(sent.headers.get('ratelimit')).toMatch(/^"default";r=0;t=/)
    const refused = await track(secretKey)
    expect(code(refused)).toEqual([429, 'rate_limited'])
    const left = Number(refused.headers.get('retry-after'))
    expect(limits(refused)[1]).toBe(`"default";r=0;t=${left}`)
    // Rounded up. On a busy machine the calls themselves take a while.
    expect(left).toBeGreaterThanOrEqual(60 - Math.ceil((performance.now() - started) / 1000))
    expect(left).toBeLessThanOrEqual(60)
  })

  it('counts nothing for a refusal that depends on the caller', async () => {
    const { businessId, secretKey, publishableKey } = await createBusiness(stack.sql, { rateLimit: 5 })
    await track(publishableKey)
    const mismatch = await track(secretKey, { json: { ...EVENT, businessId: tenant.businessId } })
    expect(code(mismatch)).toEqual([403, 'business_mismatch'])
    expect(mismatch.headers.get('ratelimit')).toMatch(/^"default";r=5;/)
    const answer = await track(secretKey, { json: { ...EVENT, businessId } })
    expect(answer.headers.get('ratelimit')).toMatch(/^"default";r=4;/)
  })

  it('lets a wave of callers have exactly what there is', async () => {
    const { secretKey } = await createBusiness(stack.sql, { rateLimit: 7 })
    const answers = await Promise.all(Array.from({ length: 20 }, () => track(secretKey)))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(7)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(13)
  })

  it('opens a new window when the old one ends', async () => {
    const { businessId, secretKey } = await createBusiness(stack.sql, { rateLimit: 1 })
    await track(secretKey)
    expect((await track(secretKey)).status).toBe(429)
    await stack.redis.pexpire(`sluice:limit:default:${businessId}`, 50)
    await sleep(100)
    expect((await track(secretKey)).headers.get('ratelimit')).toBe('"default";r=0;t=60')
  })

  it('opens a new window when the clock was set back to before the old one', async () => {
    const { businessId, secretKey } = await createBusiness(stack.sql, { rateLimit: 1 })
    await track(secretKey)
    expect((await track(secretKey)).status).toBe(429)
    await stack.redis.pexpire(`sluice:limit:default:${businessId}`, 3_600_000)
    expect((await track(secretKey)).headers.get('ratelimit')).toBe('"default";r=0;t=60')
  })

  it('follows a change of the limit within a second', async () => {
    const { businessId, secretKey } = await createBusiness(stack.sql, { rateLimit: 1 })
    await track(secretKey)
    await stack.sql`update businesses set rate_limit = 2 where id = ${businessId}`
    await sleep(1000)
    expect((await track(secretKey)).status).toBe(202)
  })

  it('keeps reading and management in a bucket of their own', async () => {
    const { secretKey } = await createBusiness(stack.sql, { rateLimit: 2 })
    const read = await speak('GET', '/api/custom-fields', { key: secretKey })
    expect(limits(read)).toEqual(['"read";q=10;w=60', '"read";r=9;t=60'])
    expect((await track(secretKey)).headers.get('ratelimit')).toMatch(/^"default";r=1;/)
  })
})

describe('every answer', () => {
  it('carries the request id of the caller, or one of ours', async () => {
    for (const good of ['order 17 / retry ~2', 'x', 'x'.repeat(128)]) {
      const answer = await speak('GET', '/healthz', { headers: { 'x-request-id': good } })
      expect(answer.headers.get('x-request-id')).toBe(good)
    }
    for (const bad of ['x'.repeat(129), 'caf\u00e9']) {
      const answer = await speak('GET', '/healthz', { headers: { 'x-request-id': bad } })
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    }
    for (const path of ['/nothing', '/api/sdk/track', '/openapi', '/metrics']) {
      expect((await speak('GET', path)).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    }
  })

  it('for an unknown path is 404, in the envelope', async () => {
    for (const path of ['/nothing', '/api', '/api/sdk/tracks', '/api/contacts/a/b', '/..%2fetc']) {
      expect(code(await speak('GET', path))).toEqual([404, 'not_found'])
      const answer = await speak('POST', path)
      expect(code(answer)).toEqual([404, 'not_found'])
      expect(answer.body).toMatchObject({ success: false, message: expect.stringContaining('/openapi') as string })
    }
  })

  it('for a known path and a wrong method is 405, and lists the methods that it has', async () => {
    const answer = await speak('PUT', `/api/contacts/${randomUUID()}`)
    expect(code(answer)).toEqual([405, 'method_not_allowed'])
    expect(answer.headers.get('allow')).toBe('GET, PATCH, DELETE, HEAD')
  })
})

describe('what is for operators', () => {
  it('is healthy while the process is up, and ready only with workers', async () => {
    expect((await speak('GET', '/healthz')).status).toBe(200)
    const answer = await speak('GET', '/readyz')
    expect(answer.status).toBe(503)
    expect(answer.body.message).toContain('no worker has live-0')
  })

  it('shows metrics on loopback alone, when there is no token', async () => {
    const answer = await speak('GET', '/metrics')
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('http_requests_total{route="/api/sdk/track",method="POST",status="202",code=""}')
    for (const name of ['stream_backlog_bytes', 'stream_backlog_age_seconds', 'outbox_lag_seconds', 'dead_letters']) {
      expect(answer.text).toMatch(new RegExp(`^${name}`, 'm'))
    }
    const proxied: Record<string, string>[] = [
      { via: '1.1 proxy' },
      { forwarded: 'for=a' },
      { 'x-real-ip': '127.0.0.1' },
    ]
    for (const through of [fromElsewhere(), ...proxied]) {
      expect((await speak('GET', '/metrics', { headers: through })).status).toBe(401)
    }
  })

  it('shows metrics elsewhere to the token', async () => {
    const guarded = await runFrontDoor({ ...stack.config, metricsToken: 'open sesame' })
    const ask = speakTo(guarded.url)
    const from = fromElsewhere()
    expect(code(await ask('GET', '/metrics', { headers: from }))).toEqual([401, 'missing_api_key'])
    expect(code(await ask('GET', '/metrics', { key: 'wrong', headers: from }))).toEqual([401, 'invalid_api_key'])
    expect((await ask('GET', '/metrics', { key: 'open sesame', headers: from })).status).toBe(200)
    await guarded.close()
  })
})

describe('identify', () => {
  const identify = (said: Said) => speak('POST', '/api/sdk/identify', said)
  const IDENTIFY = { identity: { email: 'ada@example.com' } }
  /** A page waits for its answer. Without a worker, the answer after the timeout reports that its call is queued. */
  let page: Speak
  let quick: FrontDoor
  beforeAll(async () => {
    quick = await runFrontDoor({ ...stack.config, answerTimeoutMs: 1 })
    page = speakTo(quick.url)
  })
  afterAll(() => quick.close())

  it('answers a preflight from anywhere: POST with a body, never a key, never credentials', async () => {
    const { status, headers } = await speak('OPTIONS', '/api/sdk/identify', {
      headers: { origin: 'https://any.example' },
    })
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-methods')).toBe('POST')
    expect(headers.get('access-control-allow-headers')).toBe('content-type')
    expect(headers.has('access-control-allow-credentials')).toBe(false)
  })

  it('serves a server with its key, from any origin', async () => {
    const { secretKey } = await createBusiness(stack.sql, { origins: ['https://shop.example'] })
    const answer = await identify({ key: secretKey, json: IDENTIFY, headers: ASYNC })
    expect([answer.status, answer.body.data]).toEqual([202, { queued: true }])
    expect(answer.headers.get('preference-applied')).toBe('respond-async')
    expect(answer.headers.get('ratelimit')).toMatch(/^"default"/)
  })

  it('checks a key when there is one', async () => {
    const json = { ...IDENTIFY, businessId: tenant.businessId }
    expect(code(await identify({ key: 'sk_live_bad', json, headers: fromElsewhere() }))).toEqual([
      401,
      'invalid_api_key',
    ])
  })

  it('needs the business id from a caller without a key', async () => {
    const ask = async (json: object) => code(await identify({ json, headers: fromElsewhere() }))
    expect(await ask(IDENTIFY)).toEqual([400, 'invalid_request'])
    expect(await ask({ ...IDENTIFY, businessId: 5 })).toEqual([400, 'invalid_request'])
    expect(await ask({ ...IDENTIFY, visitorId: 'v' })).toEqual([400, 'invalid_request'])
    expect(await ask({ ...IDENTIFY, businessId: 'nobody' })).toEqual([404, 'business_not_found'])
    expect(await ask({ ...IDENTIFY, businessId: randomUUID() })).toEqual([404, 'business_not_found'])
  })

  it('takes the business from the body, or from a publishable key', async () => {
    const headers = fromElsewhere()
    const byBody = await page('POST', '/api/sdk/identify', { json: { ...IDENTIFY, ...id(tenant) }, headers })
    expect([byBody.status, byBody.body.data]).toEqual([202, { queued: true }])
    expect(byBody.headers.get('access-control-allow-origin')).toBe('*')
    expect(byBody.headers.has('ratelimit')).toBe(false)
    const byKey = await page('POST', '/api/sdk/identify', { key: tenant.publishableKey, json: IDENTIFY, headers })
    expect(byKey.status).toBe(202)
    const other = await createBusiness(stack.sql)
    const both = { key: tenant.publishableKey, json: { ...IDENTIFY, ...id(other) }, headers }
    expect(code(await page('POST', '/api/sdk/identify', both))).toEqual([403, 'business_mismatch'])
  })

  it('and the browser’s track answer a page that has waited too long that its call is kept', async () => {
    const json = { event: 'lead_submitted', visitorId: '5'.repeat(32), ...id(tenant) }
    const late = await page('POST', '/api/sdk/browser/track', { json, headers: { ...BROWSER, ...fromElsewhere() } })
    const interpreted = { type: 'lead', countedRevenue: 0 }
    expect([late.status, late.body.data]).toEqual([202, { queued: true, event: 'lead_submitted', interpreted }])
  })

  it('asks a page for an allowed origin, when its business lists any', async () => {
    const shop = await createBusiness(stack.sql, { origins: ['https://shop.example'] })
    const json = { ...IDENTIFY, ...id(shop) }
    const from = async (origin: Record<string, string>) =>
      (await page('POST', '/api/sdk/identify', { json, headers: { ...fromElsewhere(), ...origin } })).status
    expect(await from({ origin: 'https://shop.example' })).toBe(202)
    expect(await from({ origin: 'https://evil.example' })).toBe(403)
    expect(await from({ origin: 'null' })).toBe(403)
    expect(await from({})).toBe(403)
  })

  it('refuses what breaks a rule', async () => {
    const ask = async (json: unknown) => {
      const { status, body } = await identify({ key: tenant.secretKey, json, headers: ASYNC })
      return [status, body.error?.code, body.error?.issues?.[0]?.path]
    }
    expect(await ask({})).toEqual([400, 'identity_required', undefined])
    expect(await ask({ identity: {} })).toEqual([400, 'identity_required', undefined])
    expect(await ask({ ...IDENTIFY, profile: 'Ada' })).toEqual([400, 'invalid_request', 'profile'])
    expect(await ask({ ...IDENTIFY, profile: { name: 5 } })).toEqual([400, 'invalid_request', 'profile.name'])
    expect(await ask({ ...IDENTIFY, profile: { city: 'x'.repeat(257) } })).toEqual([
      400,
      'invalid_request',
      'profile.city',
    ])
    expect(await ask({ ...IDENTIFY, method: 'x'.repeat(65) })).toEqual([400, 'invalid_request', 'method'])
    expect(await ask({ ...IDENTIFY, visitorId: 'x'.repeat(129) })).toEqual([400, 'invalid_request', 'visitorId'])
    expect(await ask({ ...IDENTIFY, traits: [] })).toEqual([400, 'invalid_request', 'traits'])
    expect(
      await ask({ ...IDENTIFY, profile: { city: ` ${'x'.repeat(256)} `, name: null }, method: 'x'.repeat(64) }),
    ).toEqual([202, undefined, undefined])
  })

  it('takes at most 20 identities per address and minute, and gives refused ones back', async () => {
    const headers = fromElsewhere()
    const json = { ...IDENTIFY, ...id(tenant) }
    const ask = async (body: object) =>
      code(await page('POST', '/api/sdk/identify', { key: tenant.publishableKey, json: body, headers }))
    const other = await createBusiness(stack.sql)
    expect(await ask({ ...json, ...id(other) })).toEqual([403, 'business_mismatch'])
    for (let call = 0; call < 20; call += 1) expect((await ask(json))[0]).toBe(202)
    expect(await ask(json)).toEqual([429, 'rate_limited'])
  })
})

const id = ({ businessId }: TestBusiness) => ({ businessId })
