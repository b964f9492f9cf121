/**
 * Hostile input is stored or refused, and never causes a 5xx. Stored input comes back as it was sent, except for NUL
 * and surrogates (see the decisions).
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { type Speak, speakTo } from '../front-door/http-client.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(() => openService({}, { ownClickHouse: true }))
let speak: Speak
let business: TestBusiness
beforeAll(async () => {
  speak = speakTo(service.url)
  business = await createBusiness(service.sql)
})

const post = (path: string, said: { json?: unknown; raw?: string }) =>
  speak('POST', path, {
    key: business.secretKey,
    ...(said.raw === undefined
      ? { json: said.json }
      : { raw: said.raw, headers: { 'content-type': 'application/json' } }),
  })

const SQL = [
  `'; drop table contacts; --`,
  `" or 1=1 --`,
  `\\'); select pg_sleep(9); --`,
  '$1',
  '{}',
  '{"a":1}',
  `%s%n`,
  '../../etc/passwd',
  '${7*7}',
  '{{7*7}}',
]
const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

describe('strings that try to be code', () => {
  it.each(SQL)('are data in every field: %j', async (text) => {
    const json = {
      event: text,
      identity: { platformCustomerId: `id ${text}` },
      properties: { [text]: text },
      tags: [text],
      traits: { note: text },
      idempotencyKey: text,
      visitorId: text,
    }
    const answer = await post('/api/sdk/track', { json })
    expect([answer.status, answer.body.message]).toEqual([200, expect.any(String)])
    const contactId = String(answer.body.data['contactId'])
    const read = await speak('GET', `/api/contacts/${contactId}`, { key: business.secretKey })
    expect(read.body.data['contact']).toMatchObject({
      tags: [text],
      customFields: { note: text },
      identities: { platformCustomerId: [`id ${text}`] },
      events: [{ event: text, count: 1 }],
      visitorIds: [text],
    })
    const timeline = await speak('GET', `/api/contacts/${contactId}/timeline`, { key: business.secretKey })
    expect(timeline.body.data['events']).toMatchObject([
      { event: text, properties: { [text]: text }, idempotencyKey: text },
    ])
    const found = await speak('GET', `/api/contacts?platformCustomerId=${encodeURIComponent(`id ${text}`)}`, {
      key: business.secretKey,
    })
    expect(found.body.data['contacts']).toHaveLength(1)
  })
})

describe('bodies', () => {
  const identity = '"identity":{"email":"ann@x.io"}'
  it.each([
    [
      'prototype keys',
      `{"event":"e",${identity},"__proto__":{"admin":true},"constructor":{"prototype":{"x":1}},"properties":{"__proto__":{"y":1},"constructor":1}}`,
      200,
    ],
    [
      'prototype keys as traits',
      `{"event":"e",${identity},"traits":{"__proto__":"x","constructor":"y","toString":"z"}}`,
      200,
    ],
    ['prototype as identity', `{"event":"e","identity":{"__proto__":{"email":"ann@x.io"}}}`, 400],
    ['NUL in properties', `{"event":"e",${identity},"properties":{"a\\u0000b":"c\\u0000d"}}`, 200],
    ['a lone surrogate in properties', `{"event":"e",${identity},"properties":{"a":"\\ud800"}}`, 200],
    ['NUL in the name', `{"event":"a\\u0000","identity":{"email":"ann@x.io"}}`, 400],
    ['a lone surrogate in an email', `{"event":"e","identity":{"email":"a\\ud800@x.io"}}`, 400],
    ['NUL in a tag', `{"event":"e",${identity},"tags":["a\\u0000"]}`, 400],
    ['NUL in a currency', `{"event":"e",${identity},"value":1,"currency":"U\\u0000"}`, 400],
    ['a huge number', `{"event":"e",${identity},"value":1e308}`, 200],
    ['a number that is infinite', `{"event":"e",${identity},"value":1e999}`, 400],
    ['a huge number in properties', `{"event":"e",${identity},"properties":{"n":1e999,"m":-1e400}}`, 200],
    ['the smallest number', `{"event":"e",${identity},"value":5e-324}`, 200],
    ['minus zero', `{"event":"e",${identity},"value":-0}`, 200],
    ['depth beyond reason', `{"event":"e",${identity},"properties":{"a":${deep(5000)}}}`, 400],
    ['depth that only a parser minds', deep(100_000), 400],
    ['a string for an object', '"event"', 400],
    ['an array for an object', '[]', 400],
    ['null', 'null', 400],
    ['nothing', '', 400],
    ['trailing garbage', `{"event":"e",${identity}}x`, 400],
    ['a byte order mark', `\ufeff{"event":"e",${identity}}`, [200, 400]],
    ['duplicate keys', `{"event":"e","event":"f",${identity}}`, 200],
    ['an instant far in the past', `{"event":"e",${identity},"occurredAt":"0001-01-01"}`, 200],
    ['an instant before time', `{"event":"e",${identity},"occurredAt":-1e18}`, 400],
  ])('%s', async (_name, raw, status) => {
    const answer = await post('/api/sdk/track', { raw })
    expect([status].flat()).toContain(answer.status)
    expect(answer.body.success).toBe(answer.status === 200)
    if (answer.status !== 200) expect(answer.body.error.code).toMatch(/^[a-z_]+$/)
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined()
  })

  it('in a batch fail alone, and the rest is recorded', async () => {
    const good = { event: 'e', identity: { email: 'bob@x.io' } }
    const events = [
      good,
      { event: 'a\u0000', identity: { email: 'x@x.io' } },
      null,
      5,
      'text',
      [],
      { ...good, properties: 'no' },
      good,
    ]
    const answer = await post('/api/sdk/track/batch', { json: { events } })
    expect(answer.status).toBe(200)
    expect(answer.body.data).toMatchObject({ received: 8, recorded: 2, deduped: 0, failed: 6 })
    expect((answer.body.data['failures'] as { index: number }[]).map((failure) => failure.index)).toEqual([
      1, 2, 3, 4, 5, 6,
    ])
  })

  it('with nothing but keys cost no more than their size, in warnings, memory and time', async () => {
    const traits = Object.fromEntries(Array.from({ length: 6000 }, (_, at) => [`Bad${at}`, 1]))
    const event = { event: 'e', identity: { email: 'keys@x.io' }, traits }
    const single = await post('/api/sdk/track', { json: event })
    expect([single.status, (single.body.data['warnings'] as string[]).length]).toEqual([200, 501])
    const batch = await post('/api/sdk/track/batch', { json: { events: Array.from({ length: 200 }, () => event) } })
    expect(batch.body.data).toMatchObject({ recorded: 200, failed: 0 })
    expect(batch.body.data['warnings']).toHaveLength(50)
    const values = await post('/api/sdk/track/batch', {
      raw: `{"events":[{"event":"e","identity":{"email":"keys@x.io"},"properties":{"a":[${'[],'.repeat(3_000_000)}0]}}]}`,
    })
    expect(values.body.data).toMatchObject({ recorded: 0, failed: 1 })
  })
})
