/** Ids, addresses and values as other systems send them: what they count as, and what warnings say. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openService } from '../support/service.ts'
import { createBusiness, type TestBusiness } from '../support/stack.ts'
import { BROWSER, type Speak, speakTo } from './http-client.ts'
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

const post = async (path: string, json: unknown) => {
  const { status, body } = await speak('POST', `/api/sdk/${path}`, { key: tenant.secretKey, json })
  return { status, ...body, data: body.data as { contactId: string; deduped?: boolean; warnings?: string[] } }
}
const postText = async (path: string, raw: string) => {
  const headers = { 'content-type': 'application/json' }
  const { body } = await speak('POST', `/api/sdk/${path}`, { key: tenant.secretKey, raw, headers })
  return body.data['warnings']
}
const read = async (query: string) => {
  const { body } = await speak('GET', `/api/contacts?${query}`, { key: tenant.secretKey })
  const [contact] = body.data['contacts'] as {
    contactId: string
    revenue: { byCurrency: object }
    identities: object
  }[]
  return contact
}

describe('two people', () => {
  test.each<[string, object]>([
    ['the number 0', { platformCustomerId: 0 }],
    ['a placeholder in quotes', { platformCustomerId: "'null'" }],
    ['distinct_id', { platformCustomerId: 'distinct_id' }],
    ['a rounded customer id', { platformCustomerId: '5.12E+12' }],
    ['a rounded phone', { phone: '4.47912E+11' }],
  ])('stay two with %s, which is warned of', async (_, shared) => {
    const people = ['one@shop.example', 'two@shop.example']
    for (const path of ['track', 'identify']) {
      const answers = []
      for (const email of people) answers.push(await post(path, { event: 'visit', identity: { ...shared, email } }))
      expect(new Set(answers.map(({ data }) => data.contactId)).size).toBe(2)
      for (const { data } of answers) expect(data.warnings).toHaveLength(1)
    }
    const events = people.map((email) => ({ event: 'visit', identity: { ...shared, email } }))
    expect((await post('track/batch', { events })).data.warnings).toHaveLength(2)
    expect((await read('email=one@shop.example'))?.contactId).not.toBe(
      (await read('email=two@shop.example'))?.contactId,
    )
  })

  test('share a phone with different extensions; each is found by its own', async () => {
    const extensions = ['ext. 91467', 'x20815']
    const ids = []
    for (const extension of extensions) {
      const identity = { email: `${extension.length}@shop.example`, phone: `+1 207-143-0512 ${extension}` }
      ids.push((await post('identify', { identity })).data.contactId)
    }
    expect(new Set(ids).size).toBe(2)
    const found = await read(`phone=${encodeURIComponent('+12071430512;ext=91467')}`)
    expect(found).toMatchObject({ contactId: ids[0], identities: { phone: ['+12071430512;ext=91467'] } })
    expect(await read(`phone=${encodeURIComponent('+12071430512')}`)).toBeUndefined()
  })
})

test('a call with placeholders only is refused', async () => {
  const answer = await post('track', { event: 'visit', identity: { platformCustomerId: 0, email: 'null@null.com' } })
  expect(answer).toMatchObject({ status: 400, error: { code: 'identity_required' } })
})

test('invisible characters make no other person', async () => {
  const { contactId } = (await post('track', { event: 'visit', identity: { email: 'ada@shop.example' } })).data
  for (const email of [
    '\u200Bada@shop.example',
    'ada@shop.example\u200B',
    'a\u00ADda@shop.example',
    '\u202Aada@shop.example\u202C',
  ])
    expect((await post('track', { event: 'visit', identity: { email } })).data).toMatchObject({ contactId })
})

test('an integer beyond 2^53 is kept rounded, and its path is named', async () => {
  const identity = '"identity":{"email":"ada@shop.example"}'
  const rounded = (path: string) => `${path} was rounded: JSON numbers are exact up to 2^53; send it as a string`
  expect(
    await postText(
      'track',
      `{"event":"visit",${identity},"properties":{"tweet":1524831183200260097},"traits":{"ref":9007199254740993}}`,
    ),
  ).toEqual([rounded('properties.tweet'), rounded('traits.ref')])
  expect(await postText('identify', `{${identity},"traits":{"ref":9007199254740993}}`)).toEqual([rounded('traits.ref')])
  expect(
    await postText(
      'track/batch',
      `{"events":[{"event":"a",${identity}},{"event":"b",${identity},"properties":{"n":-9007199254740993}}]}`,
    ),
  ).toEqual([`item 1: ${rounded('properties.n')}`])
  expect(await postText('track', `{"event":"visit",${identity},"properties":{"n":9007199254740992}}`)).toBeUndefined()
  expect(await postText('track', `{"event":"visit",${identity},"properties":{"n":"9007199254740993"}}`)).toBeUndefined()
  const page = `{"businessId":"${tenant.businessId}","visitorId":"${'a'.repeat(32)}","event":"seen","details":{"n":9007199254740993}}`
  const headers = { 'content-type': 'application/json', ...BROWSER }
  const seen = await speak('POST', '/api/sdk/browser/track', { raw: page, headers })
  expect(seen.body.data['warnings']).toEqual([rounded('details.n')])
})

test('a customer id beyond 2^53 − 1 is refused as a number', async () => {
  const headers = { 'content-type': 'application/json' }
  for (const [id, status] of [
    ['9007199254740991', 200],
    ['9007199254740992', 400],
    ['"9007199254740992"', 200],
  ] as const) {
    const raw = `{"event":"visit","identity":{"platformCustomerId":${id}}}`
    expect((await speak('POST', '/api/sdk/track', { key: tenant.secretKey, raw, headers })).status).toBe(status)
  }
})

test('de_DE is read as de-DE', async () => {
  const identity = { email: 'ada@shop.example' }
  expect((await post('identify', { identity, profile: { language: 'de_DE' } })).data.warnings).toBeUndefined()
  expect(await read('email=ada@shop.example')).toMatchObject({ language: 'de-DE' })
})

test('a currency that ISO 4217 does not have is counted, and warned of', async () => {
  const identity = { email: 'ada@shop.example' }
  const warnings = ['currency is not a code of ISO 4217: the amount was kept under it as you sent it']
  expect((await post('track', { event: 'paid', identity, value: 5, currency: 'euro' })).data.warnings).toEqual(warnings)
  expect((await post('track', { event: 'paid', identity, value: 5, currency: 'eur' })).data.warnings).toBeUndefined()
  expect((await post('track', { event: 'paid', identity, currency: 'euro' })).data.warnings).toBeUndefined()
  expect(await read('email=ada@shop.example')).toMatchObject({ revenue: { byCurrency: { EUR: 5, EURO: 5 } } })
})

describe('idempotency keys', () => {
  const identity = { email: 'ada@shop.example' }

  test('a key of another event warns and names it', async () => {
    await post('track', { event: 'purchase', identity, value: 15, idempotencyKey: 'ch_1' })
    const refund = { event: 'order_refunded', type: 'refund', identity, value: 3, idempotencyKey: 'ch_1' }
    const warning =
      'the idempotencyKey belongs to an event purchase that was recorded before, so this event was not recorded: send each event with a key of its own'
    expect((await post('track', refund)).data).toMatchObject({ deduped: true, warnings: [warning] })
    expect((await post('track/batch', { events: [refund] })).data).toMatchObject({ warnings: [`item 0: ${warning}`] })
    const repeat = await post('track', { event: 'purchase', identity, value: 15, idempotencyKey: 'ch_1' })
    expect(repeat.data.warnings).toBeUndefined()
    expect(await read('email=ada@shop.example')).toMatchObject({ revenue: { byCurrency: { USD: 15 } } })
  })

  test('a key of another event in the same batch warns and names it', async () => {
    const events = ['paid', 'refunded'].map((event) => ({ event, identity, idempotencyKey: 'ch_1' }))
    const { data } = await post('track/batch', { events })
    expect(data.warnings).toEqual([expect.stringContaining('item 1: the idempotencyKey belongs to an event paid ')])
  })

  test('a key from before names were kept says nothing', async () => {
    await post('track', { event: 'paid', identity, idempotencyKey: 'old' })
    await service.sql`update idempotency_keys set event = null where business_id = ${tenant.businessId}`
    const { data } = await post('track', { event: 'refunded', identity, idempotencyKey: 'old' })
    expect(data).toMatchObject({ deduped: true })
    expect(data.warnings).toBeUndefined()
  })

  test('a key that a spreadsheet rounded loses no order, and still counts a repeat once', async () => {
    const order = (value: number) => ({ event: 'paid', type: 'purchase', identity, value, idempotencyKey: '5.12E+13' })
    for (const value of [10, 20, 30]) {
      const { data } = await post('track', order(value))
      expect(data).toMatchObject({ deduped: false, warnings: [expect.stringContaining('looks rounded')] })
    }
    expect((await post('track', order(20))).data).toMatchObject({ deduped: true })
    expect(await read('email=ada@shop.example')).toMatchObject({ orderCount: 3, revenue: { byCurrency: { USD: 60 } } })
  })
})
