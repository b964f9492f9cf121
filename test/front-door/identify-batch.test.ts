/** `POST /api/sdk/identify/batch`: people from a list. */
import * as fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readPeople } from '../support/read-people.ts'
import { runs } from '../support/runs.ts'
import { openService } from '../support/service.ts'
import { createBusiness, type TestBusiness } from '../support/stack.ts'
import { ASYNC, type Said, type Speak, speakTo } from './http-client.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(openService)
let speak: Speak
let tenant: TestBusiness
beforeAll(async () => {
  speak = speakTo(service.url)
})
beforeEach(async () => {
  tenant = await createBusiness(service.sql)
})

const PATH = '/api/sdk/identify/batch'
const send = (identifies: unknown, said: Said = {}) =>
  speak('POST', PATH, { key: tenant.secretKey, json: { identifies }, ...said })
const email = (name: string | number) => ({ identity: { email: `${name}@shop.example` } })

test('creates and updates people; items fail alone', async () => {
  const { status, body } = await send([
    { ...email('ada'), profile: { name: 'Ada Lovelace' }, traits: { plan: 'pro', 'Not-snake': 1 }, method: 'list' },
    { identity: { email: 'nobody' } },
    { ...email('ada'), profile: { city: 'London' } },
    { ...email('bob'), visitorId: 'v' },
    'text',
    { identity: { platformCustomerId: 0 } },
    { ...email('eve'), occurredAt: 'soon' },
  ])
  expect(status).toBe(200)
  expect(body).toMatchObject({
    success: true,
    message: 'The batch is applied. Failures occurred: 5 of 7 items failed.',
    data: {
      received: 7,
      created: 1,
      updated: 1,
      failed: 5,
      failures: [
        { index: 1, error: expect.stringContaining('identity.email') as string },
        { index: 3, error: 'visitorId is not accepted inside a batch' },
        { index: 4, error: 'the item must be an object' },
        { index: 5, error: expect.any(String) as string },
        { index: 6, error: expect.stringContaining('occurredAt') as string },
      ],
      warnings: [expect.stringContaining('item 0: traits.Not-snake was skipped')],
    },
  })
  const { body: found } = await speak('GET', '/api/contacts?email=ada@shop.example', { key: tenant.secretKey })
  expect((found.data['contacts'] as object[])[0]).toMatchObject({
    firstName: 'Ada',
    lastName: 'Lovelace',
    city: 'London',
    customFields: { plan: 'pro' },
    events: [],
  })
})

test('without warnings and failures the answer has an empty list', async () => {
  expect((await send([email('ada')])).body.data).toEqual({
    received: 1,
    created: 1,
    updated: 0,
    failed: 0,
    failures: [],
  })
  expect((await send([email('ada')])).body.data).toEqual({
    received: 1,
    created: 0,
    updated: 1,
    failed: 0,
    failures: [],
  })
})

test('takes 500 people for one unit of the limit, and no more', async () => {
  const people = Array.from({ length: 501 }, (_, at) => email(at))
  const first = await send(people.slice(0, 500))
  expect(first.body.data).toMatchObject({ received: 500, created: 500, failed: 0 })
  const refused = await send(people)
  expect(refused).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } })
  const left = [first, refused].map(({ headers }) => Number(/r=(\d+)/.exec(headers.get('ratelimit')!)?.[1]))
  expect(left[0]! - left[1]!).toBe(1)
})

test.each<[string, unknown]>([
  ['none', []],
  ['no list', undefined],
  ['an object', {}],
])('%s is refused as a whole', async (_, identifies) => {
  expect(await send(identifies)).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } })
})

test('takes a secret key of the business only', async () => {
  expect((await send([email('ada')], { key: undefined })).status).toBe(401)
  const answer = await speak('POST', PATH, { key: tenant.publishableKey, json: { identifies: [email('ada')] } })
  expect(answer).toMatchObject({ status: 403, body: { error: { code: 'publishable_key' } } })
  const other = await createBusiness(service.sql)
  const json = { businessId: other.businessId, identifies: [email('ada')] }
  expect(await send([], { json })).toMatchObject({ status: 403, body: { error: { code: 'business_mismatch' } } })
  const item = { ...email('ada'), businessId: other.businessId }
  expect((await send([item])).body.data).toMatchObject({ failed: 1 })
  expect((await speak('OPTIONS', PATH)).status).toBe(405)
})

test('says why the identity of an item was dropped', async () => {
  const { body } = await send([{ identity: { email: 'null' } }, { identity: {} }])
  const noField = 'identity has no usable field: send an email, a phone or a platformCustomerId.'
  expect(body.data['failures']).toEqual([
    { index: 0, error: `${noField} identity.email was ignored: it is a placeholder, not an identity` },
    { index: 1, error: noField },
  ])
})

test('answers 202 at once when asked to, and applies it', async () => {
  const { status, body, headers } = await send([email('ada'), { identity: {} }], { headers: ASYNC })
  expect(status).toBe(202)
  expect(headers.get('preference-applied')).toBe('respond-async')
  expect(body.data).toEqual({
    queued: true,
    received: 2,
    failed: 1,
    failures: [{ index: 1, error: expect.any(String) as string }],
  })
  await expect.poll(async () => (await readPeople(service.sql, tenant.businessId)).length).toBe(1)
})

describe('beside live calls', () => {
  const kept = async () =>
    await service.sql`select keyed, method from identifications where business_id = ${tenant.businessId}`

  test('is listed among the identifications', async () => {
    await send([{ ...email('ada'), method: 'list' }])
    expect(await kept()).toEqual([{ keyed: true, method: 'list' }])
  })

  test('goes through the partitions of the past', async () => {
    await send([email('ada')])
    const [row] = await service.sql<{ many: number }[]>`
      select count(*)::int as many from positions where partition like 'backfill-%' and position <> '0-0'`
    expect(row!.many).toBeGreaterThan(0)
  })

  test('it enrols nobody by a segment that the person enters', async () => {
    const call = async (path: string, json: unknown) =>
      (await speak('POST', path, { key: tenant.secretKey, json })).body.data
    const rule = { attribute: 'city', operator: 'equals', value: 'London' }
    await speak('POST', '/api/sdk/identify', {
      key: tenant.secretKey,
      json: { ...email('first'), profile: { city: 'Paris' } },
    })
    const { segment } = (await call('/api/segments', { name: 'Pro', rule })) as { segment: { segmentId: string } }
    const { campaign } = (await call('/api/campaigns', {
      name: 'Hello',
      trigger: { segment: segment.segmentId, on: 'enter' },
    })) as { campaign: { campaignId: string } }
    await call(`/api/campaigns/${campaign.campaignId}/publish`, {})
    const isReady = async () => {
      const { body } = await speak('GET', `/api/segments/${segment.segmentId}`, { key: tenant.secretKey })
      return (body.data['segment'] as { status: string }).status
    }
    await expect.poll(isReady).toBe('ready')
    await send([{ ...email('ada'), profile: { city: 'London' } }])
    await speak('POST', '/api/sdk/identify', {
      key: tenant.secretKey,
      json: { ...email('bob'), profile: { city: 'London' } },
    })
    const enrolled = await service.sql`
      select i.value from enrolments e join identities i using (business_id, contact_id)
      where e.business_id = ${tenant.businessId}`
    expect(enrolled).toEqual([{ value: 'bob@shop.example' }])
    const { body } = await speak('GET', `/api/segments/${segment.segmentId}`, { key: tenant.secretKey })
    expect(body.data['segment']).toMatchObject({ memberCount: 2 })
  })
})

test('any list, cut in any way and sent twice, is what single calls make of it', async () => {
  const value = fc.constantFrom('1', '2', '3', '4')
  const item = fc.record({
    identity: fc
      .record(
        {
          email: value.map((name) => `${name}@shop.example`),
          phone: value.map((digit) => `+1212555010${digit}`),
          platformCustomerId: value,
        },
        { requiredKeys: [] },
      )
      .filter((identity) => Object.keys(identity).length > 0),
    traits: fc.dictionary(fc.constantFrom('plan', 'seats'), fc.constantFrom('a', 'b'), { maxKeys: 2 }),
    occurredAt: fc.constantFrom('2026-01-01', '2026-01-02', '2026-01-03'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 8 }), fc.nat(7), async (items, cut) => {
      const [single, batched] = [await createBusiness(service.sql), await createBusiness(service.sql)]
      for (const json of items) await speak('POST', '/api/sdk/identify', { key: single.secretKey, json })
      for (const part of [items.slice(0, cut), items.slice(cut)])
        if (part.length > 0) await send(part, { key: batched.secretKey })
      const expected = await readPeople(service.sql, single.businessId)
      expect(await readPeople(service.sql, batched.businessId)).toEqual(expected)
    }),
    { numRuns: runs(30) },
  )
})
