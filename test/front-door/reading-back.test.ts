/**
 * Reading, managing and erasing people, and campaigns, through the whole service (decisions, "Reading back",
 * "Campaigns").
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { CampaignData, CampaignsData, PublishedData } from '../../src/front-door/routes/campaigns/schemas.ts'
import { CustomFieldsData } from '../../src/front-door/routes/custom-fields.ts'
import {
  ContactData,
  ContactsData,
  ErasedData,
  IdentificationsData,
  SubscriptionsData,
  TimelineData,
} from '../../src/front-door/routes/contacts/reply-schemas.ts'
import { openService } from '../support/service.ts'
import { createBusiness, type TestBusiness } from '../support/stack.ts'
import { type Answer, type Speak, speakTo } from './http-client.ts'
import { anyText, dataOf } from './reply-shape.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(openService)
let speak: Speak
let tenant: TestBusiness
beforeAll(async () => {
  speak = speakTo(service.url)
})
beforeEach(async () => {
  tenant = await createBusiness(service.sql, { country: 'IL' })
})

const ADA = { email: 'ada@example.com' }
const ask = (method: string, path: string, json?: unknown, key = tenant.secretKey) => speak(method, path, { key, json })
const code = ({ status, body }: Answer) => [status, body.error?.code]
const track = async (json: object): Promise<string> => {
  const answer = await ask('POST', '/api/sdk/track', { event: 'e', identity: ADA, ...json })
  expect(answer.status).toBe(200)
  return String(answer.body.data['contactId'])
}
const read = async (id: string) =>
  dataOf(ContactData, await ask('GET', `/api/contacts/${id}`))['contact'] as Record<string, unknown>
const timeline = async (id: string, query = '') =>
  dataOf(TimelineData, await ask('GET', `/api/contacts/${id}/timeline${query}`)) as {
    events: Record<string, unknown>[]
    nextCursor: string | null
  }

describe('a contact', () => {
  it('has its total in the currency that the business counts in now', async () => {
    const contactId = await track({ value: 10, type: 'purchase' })
    await track({ value: 3, type: 'purchase', currency: 'EUR' })
    const byCurrency = { USD: 10, EUR: 3 }
    expect(await read(contactId)).toMatchObject({ revenue: { total: 10, currency: 'USD', byCurrency } })
    for (const [currency, total] of [
      ['EUR', 3],
      ['ILS', 0],
    ] as const) {
      await service.sql`update businesses set currency = ${currency} where id = ${tenant.businessId}`
      await vi.waitFor(
        async () => expect(await read(contactId)).toMatchObject({ revenue: { total, currency, byCurrency } }),
        { timeout: PATIENCE_MS },
      )
    }
    await track({ value: 2, type: 'purchase' })
    expect(await read(contactId)).toMatchObject({ revenue: { total: 2, byCurrency: { ...byCurrency, ILS: 2 } } })
  })

  it('is read back whole', async () => {
    const before = Date.now()
    const contactId = await track({
      event: 'invoice_paid',
      identity: { email: ' Ada@Example.com ', phone: '050-123-4567', platformCustomerId: 42 },
      occurredAt: '2026-01-02T03:04:05+02:00',
      value: 0.1,
      tags: ['vip', 'vip '],
      traits: { plan: 'pro', seats: 5, active: true, since: '2026-01-01', gone: 'x' },
    })
    await track({
      event: 'invoice_paid',
      occurredAt: '2025-01-01',
      value: 0.2,
      currency: 'eur',
      traits: { gone: null },
    })
    await track({ traits: { gone: null } })
    const visitorId = randomUUID()
    const profile = { name: 'Ada Lovelace', country: 'GB', city: 'London', language: 'en', timezone: 'Europe/London' }
    await ask('POST', '/api/sdk/identify', { identity: ADA, profile, visitorId })
    const contact = await read(contactId)
    expect(contact).toEqual({
      contactId,
      firstName: 'Ada',
      lastName: 'Lovelace',
      country: 'GB',
      city: 'London',
      language: 'en',
      timezone: 'Europe/London',
      tags: ['vip'],
      customFields: { plan: 'pro', seats: 5, active: true, since: '2026-01-01' },
      stage: 'Decision',
      revenue: { total: 0.1, currency: 'USD', byCurrency: { USD: 0.1, EUR: 0.2 } },
      orderCount: 2,
      identities: { email: ['ada@example.com'], phone: ['+972501234567'], platformCustomerId: ['42'] },
      events: [
        { event: 'e', firstAt: anyText, lastAt: anyText, count: 1 },
        {
          event: 'invoice_paid',
          firstAt: '2025-01-01T00:00:00.000Z',
          lastAt: '2026-01-02T01:04:05.000Z',
          count: 2,
        },
      ],
      subscriptions: { email: false, sms: false, whatsapp: false, push: false },
      topics: {},
      visitorIds: [visitorId],
      visitors: [{ visitorId, firstSeenAt: null, lastSeenAt: null, firstTouch: null, latestTouch: null }],
      enrolments: [],
      segments: [],
      createdAt: anyText,
      mergedFrom: [],
      engagement: expect.toSatisfy((engagement) => engagement === null || typeof engagement === 'object') as unknown,
    })
    expect(Date.parse(String(contact['createdAt']))).toBeGreaterThanOrEqual(before)
  })

  it('is found by each of its fields, however written', async () => {
    const contactId = await track({
      identity: { email: 'ada@example.com', phone: '0501234567', platformCustomerId: 'C 1' },
    })
    for (const query of [
      'email=ADA@example.com',
      'phone=%2B972+50+123+4567',
      'phone=0501234567',
      'platformCustomerId=C+1',
    ]) {
      const data = dataOf(ContactsData, await ask('GET', `/api/contacts?${query}`))
      expect(data['contacts']).toMatchObject([{ contactId }])
    }
    for (const query of ['email=nobody@example.com', 'email=null', 'platformCustomerId=c+1']) {
      expect(dataOf(ContactsData, await ask('GET', `/api/contacts?${query}`))).toEqual({ contacts: [] })
    }
    for (const query of [
      'email=a@b.co&phone=1',
      'email=ada',
      'email=a@b.co&query=a',
      'phone=1&tag=',
      'email=a@b.co&stage=',
    ]) {
      expect(code(await ask('GET', `/api/contacts?${query}`))).toEqual([400, 'invalid_request'])
    }
  })

  it('is found by a plus sign that was escaped; by one that was not, the refusal says how', async () => {
    const contactId = await track({ identity: { email: 'ada+x@example.com' } })
    const found = dataOf(ContactsData, await ask('GET', '/api/contacts?email=ada%2Bx@example.com'))
    expect(found['contacts']).toMatchObject([{ contactId }])
    const rule = 'email must have one @ with something on both sides, and no white space'
    for (const [query, message] of [
      ['email=ada+x@example.com', `${rule}; in a query, write a plus sign as %2B`],
      ['email=ada', rule],
    ]) {
      const { status, body } = await ask('GET', `/api/contacts?${query}`)
      expect([status, body.message, body.error.issues]).toEqual([400, message, [{ path: 'email', message }]])
    }
  })

  it('answers with its survivor, under every id it had', async () => {
    const first = await track({})
    const second = await track({ identity: { phone: '0501234567' } })
    expect(second).not.toBe(first)
    const survivor = await track({ identity: { ...ADA, phone: '0501234567' } })
    expect(survivor).toBe(first)
    // Engagement may reach ClickHouse between the two reads.
    await vi.waitFor(async () => expect(await read(second)).toEqual(await read(first)), { timeout: PATIENCE_MS })
    expect(await read(first)).toMatchObject({ mergedFrom: [second], events: [{ event: 'e', count: 3 }] })
    expect(await timeline(second)).toEqual(await timeline(first))
    expect((await timeline(first)).events).toHaveLength(3)
  })

  it('is not found by another business, whatever is asked', async () => {
    const contactId = await track({})
    const other = await createBusiness(service.sql)
    for (const [method, path, json] of [
      ['GET', `/api/contacts/${contactId}`],
      ['GET', `/api/contacts/${contactId}/timeline`],
      ['GET', `/api/contacts/${contactId}/identifications`],
      ['PUT', `/api/contacts/${contactId}/subscriptions`, { email: true, method: 'form' }],
      ['DELETE', `/api/contacts/${contactId}`],
    ] as const) {
      expect(code(await ask(method, path, json, other.secretKey))).toEqual([404, 'not_found'])
      expect(code(await ask(method, path, json, tenant.publishableKey))).toEqual([403, 'publishable_key'])
      expect(code(await speak(method, path, { json }))).toEqual([401, 'missing_api_key'])
      for (const nobody of [randomUUID(), 'nobody', '%00']) {
        expect(code(await ask(method, path.replace(contactId, nobody), json))).toEqual([404, 'not_found'])
      }
    }
    const found = await ask('GET', '/api/contacts?email=ada@example.com', undefined, other.secretKey)
    expect(found.body.data).toEqual({ contacts: [] })
    expect(await read(contactId)).toMatchObject({ subscriptions: { email: false } })
  })
})

describe('the timeline', () => {
  it('holds what has just been answered, newest first, page by page', async () => {
    const properties = { nested: { a: [1, null] }, '': '€' }
    const contactId = await track({
      event: 'paid',
      occurredAt: '2026-01-03',
      value: 12.5,
      currency: 'eur',
      properties,
      idempotencyKey: 'k1',
      visitorId: 'v1',
    })
    for (const day of ['2026-01-01', '2026-01-05', '2026-01-04', '0001-01-01']) await track({ occurredAt: day })
    const whole = await timeline(contactId)
    expect(whole.nextCursor).toBe(null)
    expect(whole.events.map(({ occurredAt }) => String(occurredAt).slice(0, 10))).toEqual([
      '2026-01-05',
      '2026-01-04',
      '2026-01-03',
      '2026-01-01',
      '0001-01-01',
    ])
    expect(whole.events[2]).toMatchObject({
      event: 'paid',
      type: 'purchase',
      value: 12.5,
      currency: 'EUR',
      countedRevenue: 12.5,
      properties,
      source: 'live',
      idempotencyKey: 'k1',
      visitorId: 'v1',
    })
    const pages: unknown[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await timeline(contactId, `?limit=2${cursor && `&cursor=${cursor}`}`)
      pages.push(...page.events)
      cursor = page.nextCursor
    }
    expect(pages).toEqual(whole.events)
  })

  it.each(['limit=0', 'limit=501', 'limit=x', 'limit=1.5', 'limit=-1', 'cursor=nonsense'])(
    'refuses %s',
    async (query) => {
      const contactId = await track({})
      for (const list of ['timeline', 'identifications']) {
        expect(code(await ask('GET', `/api/contacts/${contactId}/${list}?${query}`))).toEqual([400, 'invalid_request'])
      }
    },
  )
})

it('lists every identify of a contact, newest first, page by page', async () => {
  const contactId = await track({})
  for (const method of ['signup', 'checkout', 'google']) {
    await ask('POST', '/api/sdk/identify', { identity: ADA, method })
    await sleep(2)
  }
  await speak('POST', '/api/sdk/identify', { json: { identity: ADA, businessId: tenant.businessId, visitorId: 'v1' } })
  const methods: unknown[] = []
  for (let query: string | null = ''; query !== null;) {
    const data = dataOf(
      IdentificationsData,
      await ask('GET', `/api/contacts/${contactId}/identifications?limit=2${query}`),
    )
    methods.push(...(data['identifications'] as object[]))
    const { nextCursor } = data as { nextCursor: string | null }
    query = nextCursor && `&cursor=${nextCursor}`
  }
  expect(methods).toMatchObject([
    { method: null, keyed: false, visitorId: 'v1' },
    { method: 'google', keyed: true, visitorId: null },
    { method: 'checkout' },
    { method: 'signup' },
  ])
})

it('lists the custom fields with the type of their first value', async () => {
  await track({ traits: { a_number: 1, a_flag: false, a_date: '2026-01-01', a_text: 'x' } })
  const { customFields } = dataOf(CustomFieldsData, await ask('GET', '/api/custom-fields')) as {
    customFields: { key: string; type: string }[]
  }
  expect(Object.fromEntries(customFields.map(({ key, type }) => [key, type]))).toEqual({
    a_number: 'Number',
    a_flag: 'Boolean',
    a_date: 'Date',
    a_text: 'Text',
  })
  const other = await createBusiness(service.sql)
  expect((await ask('GET', '/api/custom-fields', undefined, other.secretKey)).body.data).toEqual({ customFields: [] })
})

describe('subscriptions', () => {
  it('record an opt-in and an opt-out, channel by channel', async () => {
    const contactId = await track({})
    const path = `/api/contacts/${contactId}/subscriptions`
    const first = dataOf(
      SubscriptionsData,
      await ask('PUT', path, { email: true, push: true, sms: null, method: 'form' }),
    )
    expect(first).toEqual({ contactId, subscriptions: { email: true, sms: false, whatsapp: false, push: true } })
    await ask('PUT', path, { push: false, method: 'settings page' })
    expect(await read(contactId)).toMatchObject({ subscriptions: { email: true, push: false } })
    const rows =
      await service.sql`select channel, method from subscriptions where contact_id = ${contactId} order by channel`
    expect(rows).toMatchObject([
      { channel: 'email', method: 'form' },
      { channel: 'push', method: 'settings page' },
    ])
  })

  it.each<[string, unknown]>([
    ['no method', { email: true }],
    ['a blank method', { email: true, method: ' ' }],
    ['a NUL in the method', { email: true, method: 'a\0' }],
    ['no channel', { method: 'form' }],
    ['a channel that is not a boolean', { email: 'yes', method: 'form' }],
  ])('refuse %s', async (_, json) => {
    const contactId = await track({})
    expect(code(await ask('PUT', `/api/contacts/${contactId}/subscriptions`, json))).toEqual([400, 'invalid_request'])
  })
})

describe('erasure', () => {
  it('leaves nothing of a person, under no id', async () => {
    const first = await track({ idempotencyKey: 'k', properties: { secret: 'x' } })
    const second = await track({ identity: { phone: '0501234567' } })
    await track({ identity: { ...ADA, phone: '0501234567' } })
    expect(dataOf(ErasedData, await ask('DELETE', `/api/contacts/${second}`))).toEqual({ contactId: first })
    for (const id of [first, second]) {
      expect(code(await ask('GET', `/api/contacts/${id}`))).toEqual([404, 'not_found'])
      expect(code(await ask('GET', `/api/contacts/${id}/timeline`))).toEqual([404, 'not_found'])
      expect(code(await ask('DELETE', `/api/contacts/${id}`))).toEqual([404, 'not_found'])
    }
    const [kept] =
      await service.sql`select count(*)::int as rows from outbox where contact_ids && ${`{${first},${second}}`}::uuid[]`
    expect(kept).toEqual({ rows: 0 })
    const repeat = await ask('POST', '/api/sdk/track', { event: 'e', identity: ADA, idempotencyKey: 'k' })
    expect(repeat.body.data).toMatchObject({ contactId: first, deduped: true, warnings: [anyText] })
    expect(await track({})).not.toBe(first)
  })
})

describe('campaigns', () => {
  const draft = {
    name: 'Welcome',
    trigger: { event: ' signup ' },
    canEnterAgain: true,
    goal: { event: 'invoice_paid' },
  }
  const create = async (json: object) =>
    dataOf(CampaignData, await ask('POST', '/api/campaigns', json))['campaign'] as { campaignId: string }

  it('are drafted, listed, read and published', async () => {
    const campaign = await create(draft)
    const shown = { ...draft, ...campaign, trigger: { event: 'signup' }, status: 'draft' }
    expect(campaign).toEqual(shown)
    const plain = await create({ name: 'Plain', trigger: { event: 'signup' }, goal: null })
    expect(plain).toMatchObject({ canEnterAgain: false, goal: null })
    const listed = dataOf(CampaignsData, await ask('GET', '/api/campaigns'))
    // Removes the fields that define what campaigns do.
    const withoutSteps = ({ steps: _, caps: __, holdOut: ___, tracking: ____, ...rest }: Record<string, unknown>) =>
      rest
    expect(listed).toEqual({ campaigns: [withoutSteps({ ...campaign }), withoutSteps({ ...plain })], nextCursor: null })
    const path = `/api/campaigns/${campaign.campaignId}`
    for (const _ of [1, 2]) {
      const published = dataOf(CampaignData, await ask('POST', `${path}/publish`))
      expect(published).toEqual({ campaign: { ...shown, status: 'published' } })
    }
    expect(dataOf(CampaignData, await ask('GET', path))).toEqual({ campaign: { ...shown, status: 'published' } })
    const [business] = await service.sql`select config_version from businesses where id = ${tenant.businessId}`
    expect(business).toEqual({ config_version: 2 })
  })

  it('warn at the publish where no PUBLIC_URL is set, if they write to people', async () => {
    const publish = async (channel: 'email' | 'webhook', tracking: object) => {
      const variants = { en: channel === 'email' ? { subject: 'Hi', text: '{{unsubscribeUrl}}' } : { body: '{}' } }
      const template = { name: 'T', channel, variants, defaultLanguage: 'en' }
      const { body } = await ask('POST', '/api/templates', template)
      const { templateId } = body.data['template'] as { templateId: string }
      const send = { type: 'send', channel, template: templateId }
      const steps = [{ type: 'wait_for', event: 'seen', timeout: 'P1D', steps: [send] }]
      const { campaignId } = await create({ ...draft, steps, tracking })
      return dataOf(PublishedData, await ask('POST', `/api/campaigns/${campaignId}/publish`))['warnings']
    }
    const links = 'links to unsubscribe lead to http://127.0.0.1:'
    expect(await publish('email', {})).toEqual([
      expect.stringMatching(`^PUBLIC_URL is not set: opens and clicks are not recorded, and ${links}`),
    ])
    expect(await publish('email', { opens: false, clicks: false })).toEqual([
      expect.stringMatching(`^PUBLIC_URL is not set: ${links}`),
    ])
    expect(await publish('webhook', {})).toBeUndefined()
  })

  it('warn of each marketing mail without a link to unsubscribe, at the publish and at a change after it', async () => {
    const templateOf = async (texts: Record<string, string>) => {
      const variants = Object.fromEntries(Object.entries(texts).map(([code, text]) => [code, { subject: 'Hi', text }]))
      const template = { name: 'T', channel: 'email', variants, defaultLanguage: 'en' }
      const { body } = await ask('POST', '/api/templates', template)
      return (body.data['template'] as { templateId: string }).templateId
    }
    const bare = await templateOf({ en: '{{unsubscribeUrl}}', de: 'Hallo', fr: 'Bonjour' })
    const linked = await templateOf({ en: 'Unsubscribe: {{unsubscribeUrl}}' })
    const send = (template: string, kind?: string) => ({ type: 'send', channel: 'email', template, kind })
    const steps = [send(linked), { type: 'wait', for: 'P1D' }, send(bare), send(bare, 'transactional')]
    const { campaignId } = await create({ ...draft, steps })
    const path = `/api/campaigns/${campaignId}`
    const warningsOf = async (...call: Parameters<typeof ask>) => {
      const warnings = (dataOf(PublishedData, await ask(...call))['warnings'] ?? []) as string[]
      return warnings.filter((warning) => !warning.startsWith('PUBLIC_URL'))
    }
    const rest =
      'has no link to unsubscribe (de, fr): in a marketing mail, link to {{unsubscribeUrl}} or {{preferencesUrl}}'
    expect(await warningsOf('PATCH', path, { name: 'Draft' })).toEqual([])
    expect(await warningsOf('POST', `${path}/publish`)).toEqual([`steps[2].template ${rest}`])
    expect(await warningsOf('PATCH', path, { steps: [send(bare)] })).toEqual([`steps[0].template ${rest}`])
    expect(await warningsOf('PATCH', path, { steps: [send(linked)] })).toEqual([])
  })

  it('are 1,000 of a business, however many are drafted at once', async () => {
    await service.sql`update businesses set campaign_count = 998 where id = ${tenant.businessId}`
    const answers = await Promise.all([1, 2, 3, 4].map(() => ask('POST', '/api/campaigns', draft)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    const refused = answers.find(({ status }) => status === 409)
    expect(refused?.body.error).toEqual({ code: 'limit_reached' })
    expect(refused?.body.message).toBe('The business has 1,000 campaigns, which is the maximum.')
    const listed = (await ask('GET', '/api/campaigns')).body.data['campaigns']
    expect(listed).toHaveLength(2)
  })

  it('enrol from the answer to their publish on, and convert', async () => {
    const { campaignId } = await create(draft)
    const contactId = await track({ event: 'signup', occurredAt: '2026-01-01' })
    await ask('POST', `/api/campaigns/${campaignId}/publish`)
    await track({ event: 'signup', occurredAt: '2026-01-02' })
    const enrolment = { campaignId, enrolledAt: '2026-01-02T00:00:00.000Z' }
    expect(await read(contactId)).toMatchObject({ enrolments: [{ ...enrolment, state: 'active', endedAt: null }] })
    await track({ event: 'invoice_paid', occurredAt: '2026-01-03' })
    expect(await read(contactId)).toMatchObject({
      enrolments: [{ ...enrolment, state: 'converted', endedAt: anyText }],
    })
  })

  it.each<[string, unknown]>([
    ['no name', { trigger: { event: 'a' } }],
    ['a blank name', { name: ' ', trigger: { event: 'a' } }],
    ['no trigger', { name: 'a' }],
    ['a trigger that is a string', { name: 'a', trigger: 'a' }],
    ['a trigger of 65 characters', { name: 'a', trigger: { event: 'x'.repeat(65) } }],
    ['a NUL in the goal', { name: 'a', trigger: { event: 'a' }, goal: { event: 'b\0' } }],
    ['a goal without an event', { name: 'a', trigger: { event: 'a' }, goal: {} }],
    ['a flag that is a string', { name: 'a', trigger: { event: 'a' }, canEnterAgain: 'yes' }],
  ])('refuse %s', async (_, json) => {
    expect(code(await ask('POST', '/api/campaigns', json))).toEqual([400, 'invalid_request'])
  })

  it('refuse at publish a goal that is the trigger', async () => {
    const { campaignId } = await create({ name: 'a', trigger: { event: 'a' }, goal: { event: 'a' } })
    const answer = await ask('POST', `/api/campaigns/${campaignId}/publish`)
    expect(code(answer)).toEqual([400, 'invalid_request'])
    expect(answer.body.error.issues?.[0]?.path).toBe('goal.event')
  })

  it('are not those of another business', async () => {
    const { campaignId } = await create(draft)
    const other = await createBusiness(service.sql)
    for (const id of [campaignId, randomUUID(), 'none']) {
      const key = id === campaignId ? other.secretKey : tenant.secretKey
      expect(code(await ask('GET', `/api/campaigns/${id}`, undefined, key))).toEqual([404, 'not_found'])
      expect(code(await ask('POST', `/api/campaigns/${id}/publish`, undefined, key))).toEqual([404, 'not_found'])
    }
    expect((await ask('GET', '/api/campaigns', undefined, other.secretKey)).body.data).toEqual({
      campaigns: [],
      nextCursor: null,
    })
    expect(code(await ask('GET', '/api/campaigns', undefined, tenant.publishableKey))).toEqual([403, 'publishable_key'])
  })
})
