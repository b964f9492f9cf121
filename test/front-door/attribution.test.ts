/** `GET /api/analytics/attribution`, through the whole service. */
import { beforeAll, expect, it } from 'vitest'
import { AttributionData } from '../../src/front-door/routes/analytics/attribution.ts'
import { openService } from '../support/service.ts'
import { createBusiness, type TestBusiness } from '../support/stack.ts'
import { BROWSER, type Speak, speakTo } from './http-client.ts'
import { dataOf } from './reply-shape.ts'
import { atLoad } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const DAY = 86_400_000
const VISITOR = 'd'.repeat(32)
const ADA = { email: 'ada@example.com' }
const service = useOpened(() => openService({}, { ownClickHouse: true }))
let speak: Speak
let tenant: TestBusiness
beforeAll(async () => {
  speak = speakTo(service.url)
  tenant = await createBusiness(service.sql)
})

const ask = (query = '', key = tenant.secretKey) => speak('GET', `/api/analytics/attribution${query}`, { key })
const read = async (query = '') =>
  dataOf(AttributionData, await ask(query)) as { from: string; to: string; rows: object[] }

it('shows which touches the revenue of a period is attributed to', async () => {
  const came = {
    businessId: tenant.businessId,
    event: 'came',
    visitorId: VISITOR,
    ageMs: 2 * DAY,
    latest: {
      ageMs: 2 * DAY,
      url: 'https://shop.example/',
      utm: { source: 'google', medium: 'cpc', campaign: 'spring' },
    },
  }
  await speak('POST', '/api/sdk/browser/track', { json: came, headers: BROWSER })
  await speak('POST', '/api/sdk/identify', { key: tenant.secretKey, json: { identity: ADA, visitorId: VISITOR } })
  const now = Date.now()
  const pay = async (value: number, age: number) =>
    await speak('POST', '/api/sdk/track', {
      key: tenant.secretKey,
      json: { event: 'paid', identity: ADA, value, occurredAt: new Date(now - age).toISOString() },
    })
  await pay(10, 1000)
  await pay(5, DAY)
  await pay(-4, 500)
  await pay(7, 40 * DAY)
  await service.shipped()
  const row = {
    channel: 'paid_search',
    source: 'google',
    medium: 'cpc',
    campaign: 'spring',
    currency: 'USD',
    contacts: 1,
  }
  const lately = await read()
  expect(lately).toMatchObject({
    model: 'last',
    truncated: false,
    rows: [{ ...row, revenue: 11, refunds: 4, orders: 2 }],
  })
  expect(lately.from).toBe(`${new Date(Date.parse(lately.to) - 30 * DAY).toISOString().slice(0, 10)}T00:00:00.000Z`)
  const unknown = {
    channel: 'unknown',
    source: '',
    medium: '',
    campaign: '',
    currency: 'USD',
    revenue: 7,
    refunds: 0,
    orders: 1,
  }
  const at = (age: number) => new Date(now - age).toISOString()
  expect(await read(`?model=first&to=${at(1000)}`)).toMatchObject({
    model: 'first',
    to: at(1000),
    rows: [{ ...row, revenue: 5, refunds: 0, orders: 1 }],
  })
  expect((await read(`?from=${at(40 * DAY)}&to=${at(DAY)}`)).rows).toMatchObject([unknown])
  expect((await read(`?from=${at(40 * DAY - 1)}&to=${at(DAY)}`)).rows).toEqual([])
  expect(await read('?from=2020-01-01&to=2020-01-02')).toMatchObject({
    from: '2020-01-01T00:00:00.000Z',
    to: '2020-01-02T00:00:00.000Z',
    rows: [],
  })
})

it.each([
  ['?model=random', 'model'],
  ['?by=medium', 'by'],
  ['?model=', 'model'],
  ['?from=yesterday', 'from'],
  ['?from=', 'from'],
  ['?to=2026-02-30', 'to'],
  ['?from=1767225600000', 'from'],
  ['?from=2026-02-01&to=2026-02-01', 'from'],
  ['?from=2026-02-02&to=2026-02-01', 'from'],
  ['?from=2999-01-01', 'from'],
])('refuses %s', async (query, path) => {
  const { status, body } = await ask(query)
  expect([status, body.error?.code, body.error?.issues?.map((issue) => issue.path)]).toEqual([
    400,
    'invalid_request',
    [path],
  ])
})

it('is for secret keys, and takes of the bucket of reads', async () => {
  expect((await ask('', tenant.publishableKey)).status).toBe(403)
  expect((await speak('GET', '/api/analytics/attribution')).status).toBe(401)
  const { headers } = await ask()
  const contact = await speak('GET', '/api/contacts?email=nobody@x.io', { key: tenant.secretKey })
  expect(headers.get('ratelimit-policy')).toMatch(/^"read"/)
  expect(headers.get('ratelimit-policy')).toBe(contact.headers.get('ratelimit-policy'))
})

// This test comes last, because it replaces the view.
it('is refused with what to do when it takes ClickHouse too much', async () => {
  await service.clickhouse.command({
    query: `create or replace view touches as
      select toUUID('${tenant.businessId}') as business_id, toNullable(generateUUIDv4()) as contact_id, '' as visitor_id,
        toInt64(number) as at_ms, '' as channel, '' as source, '' as medium, '' as landing_url,
        throwIf(number = 0, 'as it says it of its limit', toInt32(241))::String as campaign
      from numbers(1) settings allow_custom_error_code_in_throwif = 1`,
  })
  const asked = performance.now()
  const { status, body, headers } = await ask('?from=1970-01-01')
  expect(performance.now() - asked).toBeLessThan(atLoad(3000))
  expect([status, body.error?.code, body.message, headers.get('retry-after')]).toEqual([
    503,
    'unavailable',
    'The query takes too long or too much memory. Request a shorter time range, fewer events or steps, or no breakdown.',
    '60',
  ])
})
