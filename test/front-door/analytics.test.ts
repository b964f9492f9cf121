/** The endpoints of charts, through the whole service: with a key and with a session. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { analyticsEndpoints } from '../../src/front-door/routes/analytics/endpoints.ts'
import { FunnelContactsData, SeriesData } from '../../src/front-door/routes/analytics/schemas.ts'
import { addUser, signIn, type SessionClient } from '../dashboard/session-client.ts'
import { openService, type Service } from '../support/service.ts'
import { createBusiness, type TestBusiness } from '../support/stack.ts'
import { type Speak, speakTo } from './http-client.ts'
import { dataOf } from './reply-shape.ts'

const ZONE = 'America/New_York'
let service: Service
let speak: Speak
let tenant: TestBusiness
const clients = new Map<string, SessionClient>()
const contactIds = new Map<string, unknown>()

const EVENTS = [
  // The clocks go back on November 3: that day has 25 hours.
  { event: 'signup', who: 'ann', at: '2024-11-03T03:59:59.999Z', properties: { plan: 'pro' } },
  { event: 'signup', who: 'bob', at: '2024-11-03T04:00:00.000Z', properties: { plan: 'free' } },
  { event: 'paid', who: 'ann', at: '2024-11-04T04:59:59.999Z', value: 20.1 },
  { event: 'paid', who: 'ann', at: '2024-11-04T05:00:00.000Z', value: 10 },
  { event: 'paid', who: 'ann', at: '2024-11-04T06:00:00.000Z', value: -0.1 },
  { event: 'paid', who: 'cyd', at: '2024-11-04T07:00:00.000Z', value: 7, currency: 'EUR' },
]

beforeAll(async () => {
  service = await openService({}, { ownClickHouse: true })
  speak = speakTo(service.url)
  tenant = await createBusiness(service.sql, { timezone: ZONE })
  for (const role of ['owner', 'read-only'] as const) {
    await addUser(service.sql, `${role}@x.io`, { businessId: tenant.businessId, role })
    clients.set(role, await signIn(service, `${role}@x.io`))
  }
  for (const { who, at, ...rest } of EVENTS) {
    const json = { ...rest, identity: { email: `${who}@x.io` }, occurredAt: at }
    const { body } = await speak('POST', '/api/sdk/track', { key: tenant.secretKey, json })
    contactIds.set(who, body.data['contactId'])
  }
  await service.shipped()
})
afterAll(() => service?.close())

type Query = Record<string, unknown>
const textOf = (query: Query) =>
  new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  ).toString()
const ask = (path: string, query: Query = {}, key = tenant.secretKey) =>
  speak('GET', `/api/analytics${path}?${textOf(query)}`, { key })
const askAs = async (role: string, path: string, query: Query = {}) =>
  await clients.get(role)!.send('GET', `/b/${tenant.businessId}/analytics${path}?${textOf(query)}`)

const DAYS = { from: '2024-11-02', to: '2024-11-05' }
const STEPS = { steps: [{ event: 'signup' }, { event: 'paid' }], ...DAYS }

it('divides time by the days of the business, with one of 25 hours', async () => {
  const data = dataOf(SeriesData, await ask('/series', { ...DAYS, series: [{ measure: 'count' }], breakdown: 'event' }))
  expect(data).toEqual({
    from: '2024-11-02T04:00:00.000Z',
    to: '2024-11-05T05:00:00.000Z',
    timezone: ZONE,
    interval: 'day',
    buckets: ['2024-11-02T04:00:00.000Z', '2024-11-03T04:00:00.000Z', '2024-11-04T05:00:00.000Z'],
    series: [
      {
        currency: null,
        total: 6,
        points: [1, 2, 3],
        rows: [
          { value: 'paid', label: null, isOther: false, total: 4, points: [0, 1, 3] },
          { value: 'signup', label: null, isOther: false, total: 2, points: [1, 1, 0] },
        ],
        before: null,
      },
    ],
    formula: null,
    comparedWith: null,
  })
})

it('compares with the period before, and computes with two series', async () => {
  const series = [
    { measure: 'contacts', events: ['signup'] },
    { measure: 'revenue', events: ['paid'] },
  ]
  const query = { from: '2024-11-04', to: '2024-11-05', series, formula: 'b / a', compare: 'true' }
  const data = dataOf(SeriesData, await ask('/series', query))
  expect(data).toMatchObject({
    series: [
      { currency: null, total: 0, before: { total: 1, points: [1] } },
      { currency: 'USD', total: 9.9, before: { total: 20.1, points: [20.1] } },
    ],
    formula: { total: null, points: [null], before: { total: 20.1, points: [20.1] } },
    comparedWith: { from: '2024-11-03T04:00:00.000Z', to: '2024-11-04T05:00:00.000Z' },
  })
  expect((await ask('/series', { ...query, compare: 'false' })).body.data).toMatchObject({ formula: { before: null } })
})

it('names segments, and says what people in none of them did', async () => {
  const { segment } = (
    await speak('POST', '/api/segments', {
      key: tenant.secretKey,
      json: { name: 'Payers', rule: { event: 'paid', metric: 'count', operator: 'greater_than', value: 1 } },
    })
  ).body.data as { segment: { segmentId: string } }
  const read = async () =>
    (await ask('/series', { ...DAYS, breakdown: 'segment' })).body.data as { series: [{ rows: object[] }] }
  await expect.poll(async () => (await read()).series[0].rows.length, { timeout: 60_000 }).toBe(2)
  expect((await read()).series[0].rows).toEqual([
    { value: segment.segmentId, label: 'Payers', isOther: false, total: 4, points: [1, 1, 2] },
    { value: null, label: null, isOther: true, total: 2, points: [0, 1, 1] },
  ])
})

it('lists who dropped out, and says it as a rule that a segment takes', async () => {
  const funnel = await ask('/funnel', STEPS)
  expect(funnel.body.data).toMatchObject({
    order: 'in_order',
    windowSeconds: 30 * 86_400,
    steps: [
      { event: 'signup', contacts: 2, dropped: 1, segment: null },
      { event: 'paid', contacts: 1, dropped: 0, segment: null },
    ],
  })
  const list = dataOf(FunnelContactsData, await ask('/funnel/contacts', { ...STEPS, step: '1' }))
  expect(list).toEqual({ contacts: [{ contactId: contactIds.get('bob'), at: EVENTS[1]!.at }], nextCursor: null })
  const lately = (await ask('/funnel', { steps: STEPS.steps, from: DAYS.from, order: 'any', windowSeconds: '86400' }))
    .body.data as { steps: { segment: { rule: object; isExact: boolean } }[] }
  const { rule, isExact } = lately.steps[0]!.segment
  expect(isExact).toBe(false)
  const preview = await speak('POST', '/api/segments/preview', { key: tenant.secretKey, json: { rule } })
  expect([preview.status, preview.body.data['count']]).toEqual([200, 2])
})

describe('with a session', () => {
  it('has the same answers, and lists of people only for those who may see them', async () => {
    for (const role of ['owner', 'read-only']) {
      for (const [path, query] of [
        ['/series', DAYS],
        ['/funnel', STEPS],
        ['/revenue', DAYS],
      ] as const) {
        const { data } = await askAs(role, path, query)
        expect(data).toEqual((await ask(path, query)).body.data)
      }
    }
    expect((await askAs('owner', '/funnel/contacts', STEPS)).status).toBe(200)
    expect((await askAs('read-only', '/funnel/contacts', STEPS)).code).toBe('not_permitted')
    expect((await askAs('owner', '/engagement/movers')).status).toBe(200)
    expect((await askAs('read-only', '/engagement/movers')).code).toBe('not_permitted')
    expect((await askAs('read-only', '/web/live')).data).toEqual({ live: 0 })
  })

  it('shows and tests values of people only for those who may see contacts', async () => {
    const where = [{ property: 'plan', operator: 'equals', value: 'pro' }]
    for (const [path, query] of [
      ['/series', { breakdown: 'field:email' }],
      ['/series', { breakdown: 'property:email' }],
      ['/series', { series: [{ measure: 'count', where }] }],
      ['/funnel', { steps: [{ event: 'signup', where }, { event: 'paid' }] }],
      ['/retention', { first: { event: 'signup', where } }],
      ['/lifecycle', { active: { event: 'paid', where } }],
    ] as const) {
      const asked = { ...DAYS, ...query }
      expect([path, (await askAs('owner', path, asked)).status]).toEqual([path, 200])
      expect([path, (await askAs('read-only', path, asked)).code]).toEqual([path, 'not_permitted'])
    }
  })
})

/** These endpoints are about the present. */
const WITHOUT_RANGE = new Set(['/engagement', '/engagement/movers', '/web/live'])

describe.each(analyticsEndpoints.map(({ path, operation }) => [path.replace('/analytics', ''), operation] as const))(
  '%s',
  (path, { replies }) => {
    it('answers as it is described, also where nothing happened', async () => {
      const steps = STEPS.steps
      for (const query of [DAYS, { from: '1970-01-01', to: '1970-01-03' }, { from: '2024-11-04T12:00:00Z' }]) {
        const interval = 'from' in query && !('to' in query) && !path.startsWith('/funnel') ? { interval: 'month' } : {}
        dataOf(replies[200]!.data, await ask(path, { steps, ...query, ...interval }))
      }
    })

    it('is for secret keys', async () => {
      expect((await ask(path, {}, tenant.publishableKey)).status).toBe(403)
      expect((await speak('GET', `/api/analytics${path}`)).status).toBe(401)
    })

    it.each([
      [{ from: 'yesterday' }, 'from'],
      [{ to: '2026-02-30' }, 'to'],
      [{ from: '2026-02-02', to: '2026-02-02' }, 'from'],
    ])('refuses %j', async (query, at) => {
      if (WITHOUT_RANGE.has(path)) return
      const { status, body } = await ask(path, { steps: STEPS.steps, ...query })
      expect([status, body.error.code, body.error.issues?.map((issue) => issue.path)]).toEqual([
        400,
        'invalid_request',
        [at],
      ])
    })
  },
)

const days = (count: number, from = '2020-01-01') => ({
  from,
  to: new Date(Date.parse(from) + count * 86_400_000).toISOString().slice(0, 10),
})
const names = (count: number) => Array.from({ length: count }, (_, n) => `event ${n}`)
const where = (count: number) => names(count).map((property) => ({ property, operator: 'exists' }))
const steps = (count: number) => ({ steps: names(count).map((event) => ({ event })) })
const TWO = [{ measure: 'count' }, { measure: 'contacts' }]
const one = (rest: object) => ({ series: [{ measure: 'count', ...rest }] })

describe('at a limit', () => {
  it.each<[string, Query, Query, string]>([
    ['/series', days(1000), days(1001), 'interval'],
    ['/revenue', days(1000), days(1001), 'interval'],
    ['/stages', days(1000), days(1001), 'interval'],
    ['/retention', { ...days(120), interval: 'day' }, { ...days(121), interval: 'day' }, 'interval'],
    ['/lifecycle', { ...days(120), interval: 'day' }, { ...days(121), interval: 'day' }, 'interval'],
    ['/revenue/cohorts', { ...days(120), interval: 'day' }, { ...days(121), interval: 'day' }, 'interval'],
    ['/retention', { periods: '120' }, { periods: '121' }, 'periods'],
    ['/retention', { first: { event: 'e'.repeat(64) } }, { first: { event: 'e'.repeat(65) } }, 'first.event'],
    ['/retention', { returning: { where: where(5) } }, { returning: { where: where(6) } }, 'returning.where'],
    ['/lifecycle', { active: {} }, { active: [] }, 'active'],
    ['/series', { series: TWO }, { series: [...TWO, ...TWO] }, 'series'],
    ['/series', one({ events: names(10) }), one({ events: names(11) }), 'series[0].events'],
    ['/series', one({ where: where(5) }), one({ where: where(6) }), 'series[0].where'],
    [
      '/series',
      { series: [{ measure: 'sum', property: 'a'.repeat(200) }] },
      { series: [{ measure: 'sum', property: 'a'.repeat(201) }] },
      'series[0].property',
    ],
    [
      '/series',
      { breakdown: `property:${'a'.repeat(200)}` },
      { breakdown: `property:${'a'.repeat(201)}` },
      'breakdown',
    ],
    ['/series', { top: '25' }, { top: '26' }, 'top'],
    ['/series', { top: '1' }, { top: '0' }, 'top'],
    [
      '/series',
      { series: TWO, formula: `a${'+b'.repeat(49)}` },
      { series: TWO, formula: `a${'+b'.repeat(50)}` },
      'formula',
    ],
    ['/series', { series: TWO, formula: 'a' }, { formula: 'a' }, 'formula'],
    ['/funnel', steps(2), steps(1), 'steps'],
    ['/funnel', steps(10), steps(11), 'steps'],
    ['/funnel', { ...STEPS, windowSeconds: '31536000' }, { ...STEPS, windowSeconds: '31536001' }, 'windowSeconds'],
    ['/funnel', { ...STEPS, order: 'any' }, { steps: [{ event: 'paid' }, { event: 'paid' }], order: 'any' }, 'steps'],
    ['/funnel/contacts', { ...STEPS, step: '1' }, { ...STEPS, step: '2' }, 'step'],
    [
      '/funnel/contacts',
      { ...STEPS, outcome: 'reached', step: '2' },
      { ...STEPS, outcome: 'reached', step: '3' },
      'step',
    ],
    ['/funnel/contacts', { ...STEPS, limit: '500' }, { ...STEPS, limit: '501' }, 'limit'],
    ['/funnel/contacts', STEPS, { ...STEPS, cursor: 'x' }, 'cursor'],
    ['/web', days(1000), days(1001), 'interval'],
    ['/web/pages', { top: '100' }, { top: '101' }, 'top'],
    ['/web/sources', { top: '100' }, { top: '101' }, 'top'],
    ['/web/sources', { by: 'referrer' }, { by: 'medium' }, 'by'],
    ['/engagement/movers', { top: '100' }, { top: '101' }, 'top'],
    ['/attribution', { model: 'position' }, { model: 'even' }, 'model'],
    ['/attribution', { by: 'landing_page' }, { by: 'page' }, 'by'],
    ['/revenue/cohorts', { currency: 'ABCDEFGH' }, { currency: 'ABCDEFGHI' }, 'currency'],
  ])('%s takes it, and not one past it', async (path, at, past, name) => {
    expect((await ask(path, at)).status).toBe(200)
    const { status, body } = await ask(path, past)
    expect([status, body.error?.issues?.map((issue) => issue.path)]).toEqual([400, [name]])
  })
})

it.each<[string, Query, string]>([
  ['/series', { series: 'x' }, 'series'],
  ['/series', { series: [1] }, 'series[0]'],
  ['/series', one({ measure: 'many' }), 'series[0].measure'],
  ['/series', one({ property: 'a' }), 'series[0].property'],
  ['/series', one({ events: 'a' }), 'series[0].events'],
  ['/series', one({ events: [''] }), 'series[0].events[0]'],
  ['/series', { series: [{ measure: 'sum' }] }, 'series[0].property'],
  ['/series', { series: [{ measure: 'revenue', currency: 5 }] }, 'series[0].currency'],
  ['/series', one({ where: [{ property: 'a', operator: 'is' }] }), 'series[0].where[0].operator'],
  ['/series', { interval: 'year' }, 'interval'],
  ['/series', { breakdown: 'tag' }, 'breakdown'],
  ['/series', { breakdown: 'field:' }, 'breakdown'],
  ['/series', { compare: 'yes' }, 'compare'],
  ['/series', { series: TWO, formula: 'a; b' }, 'formula'],
  ['/retention', { interval: 'hour' }, 'interval'],
  ['/retention', { first: 'x' }, 'first'],
  ['/retention', { first: { name: 'x' } }, 'first.name'],
  ['/funnel', {}, 'steps'],
  ['/funnel', { steps: [{ event: 'a' }, null] }, 'steps[1]'],
  ['/funnel', { steps: [{ event: 'a' }, {}] }, 'steps[1].event'],
  ['/funnel', { ...STEPS, order: 'random' }, 'order'],
])('%s refuses %j', async (path, query, name) => {
  const { status, body } = await ask(path, query)
  expect([status, body.error?.issues?.[0]?.path]).toEqual([400, name])
})

it('takes what callers write as it is', async () => {
  const text = `it's "so" \\ {x: String}; --`
  for (const query of [
    one({ events: [text] }),
    { breakdown: `field:${text}` },
    { breakdown: `property:${text}` },
    { series: [{ measure: 'sum', property: text }] },
    one({ where: [{ property: text, operator: 'equals', value: text }] }),
  ])
    expect((await ask('/series', query)).status).toBe(200)
})

// These tests come last, because they replace a view.
describe('a costly query', () => {
  const replaceView = async (body: string) =>
    await service.clickhouse.command({
      query: `create or replace view segment_members as select toUUID('${tenant.businessId}') as business_id,
        generateUUIDv4() as segment_id, generateUUIDv4() as contact_id from numbers(1) where ${body} = 0
        settings allow_custom_error_code_in_throwif = 1`,
    })

  it('waits for its turn: of many of one business, some are refused', async () => {
    await replaceView('sleep(0.2)')
    const asked = Array.from({ length: 14 }, (_, n) =>
      n % 2 === 0
        ? ask('/series', { breakdown: 'segment' }).then(({ status }) => status)
        : askAs('owner', '/series', { breakdown: 'segment' }).then(({ status }) => status),
    )
    const statuses = await Promise.all(asked)
    expect(statuses.filter((status) => status === 429).length).toBe(2)
  })

  it('is refused with what to do when it takes too much', async () => {
    await replaceView(`throwIf(number = 0, 'as it says it of its limit', toInt32(241))`)
    const { status, body, headers } = await ask('/series', { breakdown: 'segment' })
    expect([status, body.error.code, body.message, headers.get('retry-after')]).toEqual([
      503,
      'unavailable',
      'The query takes too long or too much memory. Request a shorter time range, fewer events or steps, or no breakdown.',
      '60',
    ])
  })
})
