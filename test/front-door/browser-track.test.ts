/**
 * `sluice.track` at the front door: who may call it, what is accepted, and what is recorded (decisions, "Callers
 * without a secret key").
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { MAX_AGE_MS } from '../../src/front-door/routes/browser/read-browser-event.ts'
import { fillVisitor } from '../support/fill-visitor.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { BROWSER, type Said, type Speak, speakTo } from './http-client.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const PATH = '/api/sdk/browser/track'
const service = useOpened(() => openService({ TRUST_PROXY: 'true' }))
let speak: Speak
let shop: TestBusiness
beforeAll(async () => {
  speak = speakTo(service.url)
  shop = await createBusiness(service.sql)
})

let [addresses, visitors] = [0, 0]
const fromElsewhere = () => ({ 'x-forwarded-for': `203.0.113.${(addresses += 1)}` })
const newVisitor = () => (visitors += 1).toString(16).padStart(32, '0')
const event = (more: object = {}) => ({ businessId: shop.businessId, visitorId: newVisitor(), event: 'demo', ...more })
const send = (json: unknown, { headers, ...said }: Said = {}) =>
  speak('POST', PATH, { json, ...said, headers: { ...BROWSER, ...fromElsewhere(), ...headers } })
async function ask(json: unknown, said: Said = {}) {
  const { status, body } = await send(json, said)
  return [status, body.error?.code, body.error?.issues?.[0]?.path]
}
const TAKEN = [200, undefined, undefined]
const invalid = (path: string) => [400, 'invalid_request', path]
const kept = async (visitorId: string) => {
  const rows = await service.sql<{ line: string }[]>`select line from visitor_events where visitor_id = ${visitorId}`
  return rows.map(({ line }) => JSON.parse(line) as Record<string, unknown>)
}

describe('a page', () => {
  it('is answered without a contact until its visitor is identified', async () => {
    const sent = event({ event: ' form_submitted ', details: { form: 'demo' }, messageId: 'm' })
    const interpreted = { type: 'lead', countedRevenue: 0 }
    const answered = { contactId: null, event: 'form_submitted', isNew: false, deduped: false, interpreted }
    const first = await send(sent)
    expect([first.status, first.body.data]).toEqual([200, answered])
    expect((await send(sent)).body.data).toEqual({ ...answered, deduped: true })
    const identity = { email: 'ann@x.io' }
    const { visitorId } = sent
    const json = { businessId: shop.businessId, identity, visitorId }
    const identified = await speak('POST', '/api/sdk/identify', { json, headers: fromElsewhere() })
    const { contactId } = identified.body.data
    expect((await send(event({ visitorId }))).body.data).toMatchObject({ contactId, deduped: false })
    const timeline = await speak('GET', `/api/contacts/${String(contactId)}/timeline`, { key: shop.secretKey })
    const events = timeline.body.data['events'] as object[]
    expect(events).toMatchObject([
      { event: 'demo', source: 'browser', visitorId, idempotencyKey: null },
      { event: 'form_submitted', type: 'lead', source: 'browser', properties: { form: 'demo' } },
    ])
  })

  it('belongs to a person from when it identified them, however late it reports this, except after a server’s call', async () => {
    const visitorId = newVisitor()
    const isKnown = async (email: string, ageMs: number, key?: string) => {
      const json = { businessId: shop.businessId, identity: { email }, visitorId, ageMs }
      const said = { json, headers: fromElsewhere(), ...(key && { key }) }
      expect((await speak('POST', '/api/sdk/identify', said)).status).toBe(200)
    }
    await isKnown('first@x.io', 0)
    await isKnown('old@x.io', MAX_AGE_MS + 60_000)
    await isKnown('second@x.io', 3_600_000)
    await isKnown('keyed@x.io', 3_600_000, shop.secretKey)
    const links = await service.sql<{ from_at: number }[]>`
      select from_at from visitor_links where visitor_id = ${visitorId} order by from_at`
    const ages = links.map(({ from_at }) => Math.round((Date.now() - from_at) / 60_000))
    // From the identification of the first person on, the browser is theirs again, until the server's call.
    expect(ages.slice(1)).toEqual([MAX_AGE_MS / 60_000, 60, 0, 0])
    expect(await ask(event({ ageMs: -1 }))).toEqual(invalid('ageMs'))
  })

  it('gets a warning, like the identification, when too many people share the visitor id', async () => {
    const visitorId = newVisitor()
    await fillVisitor(service.sql, shop.businessId, visitorId, 1000)
    const json = { businessId: shop.businessId, identity: { email: 'one-more@x.io' }, visitorId }
    const identified = await speak('POST', '/api/sdk/identify', { json, headers: fromElsewhere() })
    const linksNobody = 'the visitorId is no longer linked to a contact: over 1000 contacts were identified with it'
    expect(identified.body.data).toMatchObject({ isNew: true, linkedVisitor: false, warnings: [linksNobody] })
    const notKept = 'the event was not stored: over 1000 contacts were identified with its visitorId'
    expect((await send(event({ visitorId }))).body.data).toMatchObject({ contactId: null, warnings: [notKept] })
  })

  it('may send text, as a beacon does, and no other type', async () => {
    const raw = JSON.stringify(event())
    for (const type of ['text/plain', 'text/plain;charset=UTF-8', 'application/json; charset=utf-8'])
      expect(await ask(undefined, { raw, headers: { 'content-type': type } })).toEqual(TAKEN)
    for (const type of ['application/x-www-form-urlencoded', 'text/html', 'text/plainer'])
      expect((await ask(undefined, { raw, headers: { 'content-type': type } }))[0]).toBe(415)
    const elsewhere = { raw, headers: { 'content-type': 'text/plain', ...fromElsewhere() } }
    for (const path of ['/api/sdk/identify', '/api/sdk/track'])
      expect((await speak('POST', path, { ...elsewhere, key: shop.secretKey })).status).toBe(415)
  })

  it('can read how long to wait, and gets no cookie', async () => {
    const preflight = await speak('OPTIONS', PATH, { headers: { origin: 'https://any.example' } })
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([204, 'content-type'])
    for (const { headers } of [preflight, await send(event()), await send({}), await speak('GET', PATH)]) {
      expect(headers.get('access-control-allow-credentials')).toBeNull()
      expect(headers.get('set-cookie')).toBeNull()
    }
    for (const path of [PATH, '/api/sdk/identify']) {
      const { headers } = await speak('POST', path, { json: {}, headers: fromElsewhere() })
      expect([headers.get('access-control-allow-origin'), headers.get('access-control-expose-headers')]).toEqual([
        '*',
        'Retry-After',
      ])
    }
  })

  it('comes from an allowed origin, when its business lists any', async () => {
    const { businessId } = await createBusiness(service.sql, { origins: ['https://shop.example'] })
    const from = async (headers: Record<string, string>) => (await ask(event({ businessId }), { headers })).slice(0, 2)
    expect(await from({ origin: 'https://shop.example' })).toEqual([200, undefined])
    for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }, {}])
      expect(await from(headers as Record<string, string>)).toEqual([403, 'origin_not_allowed'])
  })

  it('names its business in the body or by a publishable key', async () => {
    const { businessId: _, ...rest } = event()
    expect(await ask(rest)).toEqual(invalid('businessId'))
    expect(await ask(rest, { key: shop.publishableKey })).toEqual(TAKEN)
    expect(await ask(event(), { key: 'pk_live_unknown' })).toEqual([401, 'invalid_api_key', undefined])
    expect((await ask(event({ businessId: 'nobody' })))[1]).toBe('business_not_found')
    const closed = await createBusiness(service.sql)
    await service.sql`update businesses set active = false where id = ${closed.businessId}`
    expect((await ask(event({ businessId: closed.businessId })))[1]).toBe('business_inactive')
  })
})

describe('what is sent', () => {
  it('is held to its limits', async () => {
    const touch = (more: object) => ({ latest: { ageMs: 0, url: 'https://shop.example/', ...more } })
    const pairs: [good: object, bad: object, path: string][] = [
      [{ event: 'e'.repeat(64) }, { event: 'e'.repeat(65) }, 'event'],
      [{ event: ' e ' }, { event: ' ' }, 'event'],
      [{ event: 'e' }, { event: 'a\0' }, 'event'],
      [{ messageId: 'm'.repeat(64) }, { messageId: 'm'.repeat(65) }, 'messageId'],
      [{ messageId: 'm' }, { messageId: '\ud800' }, 'messageId'],
      [{ visitorId: newVisitor() }, { visitorId: newVisitor().toUpperCase().replace('0', 'A') }, 'visitorId'],
      [{ visitorId: null }, { visitorId: '5'.repeat(33) }, 'visitorId'],
      [{ details: {} }, { details: [] }, 'details'],
      [{ ageMs: 0 }, { ageMs: -1 }, 'ageMs'],
      [{ ageMs: 0.5 }, { ageMs: '1' }, 'ageMs'],
      [touch({ url: 'x'.repeat(512) }), touch({ url: 'x'.repeat(513) }), 'latest.url'],
      [touch({ referrer: 'x'.repeat(512) }), touch({ referrer: 'x'.repeat(513) }), 'latest.referrer'],
      [touch({ utm: { source: 'x'.repeat(512) } }), touch({ utm: { source: 'x'.repeat(513) } }), 'latest.utm.source'],
      [touch({ clickIds: { gclid: 'x' } }), touch({ clickIds: { gclid: 5 } }), 'latest.clickIds.gclid'],
      [touch({ ageMs: 1e12 }), touch({ ageMs: null }), 'latest.ageMs'],
    ]
    for (const [good, bad, path] of pairs) {
      expect([path, ...(await ask(event(good)))]).toEqual([path, ...TAKEN])
      expect([path, ...(await ask(event(bad)))]).toEqual([path, ...invalid(path)])
    }
    const details = (bytes: number) => ({ details: { a: 'x'.repeat(bytes - '{"a":""}'.length) } })
    expect(await ask(event(details(32_768)))).toEqual(TAKEN)
    expect(await ask(event(details(32_769)))).toEqual([400, 'properties_too_large', undefined])
    const body = (bytes: number) => {
      const bare = JSON.stringify(event({ ignored: '' }))
      return {
        raw: bare.replace('""', `"${'x'.repeat(bytes - bare.length)}"`),
        headers: { 'content-type': 'text/plain' },
      }
    }
    expect(await ask(undefined, body(65_536))).toEqual(TAKEN)
    expect((await ask(undefined, body(65_537)))[0]).toBe(413)
  })

  it('happened as long ago as the browser says, a week and an hour at most', async () => {
    for (const [ageMs, expected] of [
      [1000, 1000],
      [MAX_AGE_MS, MAX_AGE_MS],
      [MAX_AGE_MS + 1, MAX_AGE_MS],
    ]) {
      const sent = event({ ageMs })
      await send(sent)
      const [line] = await kept(sent.visitorId)
      expect(Number(line?.['received_ms']) - Number(line?.['occurred_ms'])).toBe(expected)
    }
  })

  it('sets no amount, no tag and no trait', async () => {
    const sent = event({
      event: 'purchase',
      value: 5,
      type: 'refund',
      tags: ['vip'],
      details: { value: 5, currency: 'USD' },
    })
    const { body } = await send(sent)
    expect(body.data['interpreted']).toEqual({ type: 'purchase', countedRevenue: 0 })
    expect(await kept(sent.visitorId)).toMatchObject([{ value: null, currency: null, counted: '0' }])
  })

  it('gets a warning for each amount, tag and trait that was ignored', async () => {
    const warned = async (more: object) => (await send(event(more))).body.data['warnings']
    const all = { traits: { plan: 'pro' }, tags: ['vip'], value: 0 }
    const ignored = [
      'traits were ignored: they need a secret key',
      'tags were ignored: they need a secret key',
      'value was ignored: it needs a secret key',
    ]
    expect(await warned(all)).toEqual(ignored)
    for (const [at, [name, value]] of Object.entries(all).entries())
      expect(await warned({ [name]: value })).toEqual([ignored[at]])
    const nothing = [
      { traits: {}, tags: [], value: null },
      { traits: null, tags: null },
      { traits: ['a'], tags: { a: 1 } },
    ]
    for (const sent of [...nothing, { details: all }]) expect(await warned(sent)).toBeUndefined()
    expect(await warned({ value: { deep: [] } })).toEqual([ignored[2]])
  })

  it('is made such as both databases can hold', async () => {
    const sent = event({ details: { 'a\0': '\ud800' }, first: { ageMs: 5, url: 'x\0', utm: { source: '\ud800' } } })
    expect((await send(sent)).body.data['warnings']).toEqual([
      'details held values that cannot be stored; they were replaced',
    ])
    expect((await kept(sent.visitorId))[0]).toMatchObject({ properties: '{"a\ufffd":"\ufffd"}' })
    const [visitor] = await service.sql`select first_touch from visitors where visitor_id = ${sent.visitorId}`
    expect(visitor).toMatchObject({ first_touch: { url: 'x\ufffd', utm: { source: '\ufffd' } } })
  })

  it('without a visitor is not kept, and the page gets a warning', async () => {
    const { visitorId: _, ...sent } = event()
    const { status, body } = await send(sent)
    const warnings = [expect.stringContaining('not kept') as unknown]
    expect([status, body.data]).toEqual([200, expect.objectContaining({ contactId: null, warnings })])
  })

  it('by a bot is not kept, and the answer says so', async () => {
    const sent = event()
    const bot = { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' }
    const answers = [await send(sent, { headers: bot }), await send(event())]
    const { body } = answers[1]!
    expect(answers[0]?.body).toEqual({ ...body, data: { ...body.data, ignored: 'bot' } })
    expect(await kept(sent.visitorId)).toEqual([])
    const { visitorId: _, ...unknown } = event()
    await send(unknown, { headers: bot })
    expect((await speak('GET', '/metrics')).text).toMatch(/^browser_bots_total\{route="browser-track"\} 2$/m)
  })

  it('by a bot is kept like any other when the business allows bots', async () => {
    await service.sql`update businesses set bots = 'allow' where id = ${shop.businessId}`
    const sent = event()
    const headless = { 'user-agent': BROWSER['user-agent'].replace('Chrome', 'HeadlessChrome') }
    await expect
      .poll(async () => (await send(sent, { headers: headless })).body.data, { timeout: PATIENCE_MS })
      .not.toHaveProperty('ignored')
    expect(await kept(sent.visitorId)).toHaveLength(1)
    await service.sql`update businesses set bots = 'ignore' where id = ${shop.businessId}`
    await expect
      .poll(async () => (await send(event(), { headers: headless })).body.data, { timeout: PATIENCE_MS })
      .toHaveProperty('ignored', 'bot')
  })
})

describe('the limits', () => {
  const statuses = async (count: number, json: () => object, headers: () => Record<string, string>) => {
    const answers = await Promise.all(Array.from({ length: count }, () => send(json(), { headers: headers() })))
    return [200, 429].map((status) => answers.filter((answer) => answer.status === status).length)
  }

  it('are 60 a minute for a visitor', async () => {
    const visitorId = newVisitor()
    expect(await statuses(61, () => event({ visitorId }), fromElsewhere)).toEqual([60, 1])
  })

  it('are 300 a minute for an address', async () => {
    const headers = fromElsewhere()
    expect(await statuses(301, event, () => headers)).toEqual([300, 1])
    const refused = await send(event(), { headers })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  it('are five times the limit of the business, and never touch it', async () => {
    const { businessId, secretKey } = await createBusiness(service.sql, { rateLimit: 2 })
    expect(await statuses(11, () => event({ businessId }), fromElsewhere)).toEqual([10, 1])
    const json = { event: 'e', identity: { email: 'ann@x.io' } }
    expect((await speak('POST', '/api/sdk/track', { key: secretKey, json })).status).toBe(200)
    const identify = { businessId, identity: { email: 'ann@x.io' } }
    expect((await speak('POST', '/api/sdk/identify', { json: identify, headers: fromElsewhere() })).status).toBe(200)
  })
})
