/**
 * Every rule for the fields of an event (contract, "Resources and their fields", "Limits"), at the limit and one past
 * it.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FrontDoor, runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { createBusiness, openStack, type Stack, type TestBusiness } from '../support/stack.ts'
import { ASYNC, jsonOfBytes, type Said, type Speak, speakTo } from './http-client.ts'

let stack: Stack
let frontDoor: FrontDoor
let speak: Speak
let tenant: TestBusiness
beforeAll(async () => {
  stack = await openStack()
  frontDoor = await runFrontDoor(stack.config)
  speak = speakTo(frontDoor.url)
  tenant = await createBusiness(stack.sql)
})
afterAll(async () => {
  await frontDoor.close()
  await stack.close()
})

const EVENT = { event: 'signup', identity: { email: 'ada@example.com' } }
const NUL = 'a\0b'
const LONE = 'a\ud800b'
const MINUTE = 60_000

function track(said: Said) {
  return speak('POST', '/api/sdk/track', { key: tenant.secretKey, ...said, headers: { ...ASYNC, ...said.headers } })
}

describe('passes the front door', () => {
  it.each<[string, object]>([
    ['the smallest event', {}],
    ['a name of 64 characters', { event: 'x'.repeat(64) }],
    ['a name of 64 characters after trimming', { event: ` ${'x'.repeat(64)}\n` }],
    [
      'a name and a key between U+0085',
      { event: `\u0085${'x'.repeat(64)}\u0085`, idempotencyKey: `\u0085${'x'.repeat(200)}` },
    ],
    ['a name in any script', { event: '购买 🎉' }],
    ['each type', { type: 'cancelled' }],
    ['a negative value', { value: -0.1 }],
    ['a huge value', { value: 1e300 }],
    ['a currency of 8 characters', { value: 1, currency: 'ABCDEFGH' }],
    ['properties of 32,768 bytes', { properties: jsonOfBytes(32_768) }],
    ['properties with a lone surrogate', { properties: { a: LONE, [NUL]: 1 } }],
    [
      'properties with prototype keys',
      { properties: JSON.parse('{"__proto__":{"a":1},"constructor":{"prototype":1}}') as object },
    ],
    ['50 tags of 64 characters', { tags: Array.from({ length: 50 }, (_, at) => String(at).padEnd(64, 'x')) }],
    ['no tags', { tags: [] }],
    ['traits of each kind', { traits: { a: 'x', b: 1, c: true, d: null } }],
    ['traits of other shapes, with a warning', { traits: { CamelCase: 1, long: 'x'.repeat(5000) } }],
    ['an idempotency key of 200 characters', { idempotencyKey: 'x'.repeat(200) }],
    ['a visitor id of 128 characters', { visitorId: 'x'.repeat(128) }],
    ['a time in the far past', { occurredAt: '0001-01-01' }],
    ['a time 4 minutes ahead', { occurredAt: Date.now() + 4 * MINUTE }],
    ['null in every optional field', { type: null, value: null, currency: null, properties: null, tags: null }],
    ['null in more optional fields', { traits: null, idempotencyKey: null, visitorId: null, occurredAt: null }],
    ['null in an identity field', { identity: { email: 'ada@example.com', phone: null } }],
    ['a placeholder beside a good field', { identity: { email: 'N/A', platformCustomerId: 7 } }],
    ['a customer id of 255 characters', { identity: { platformCustomerId: 'x'.repeat(255) } }],
    ['a customer id of 2^53 − 1', { identity: { platformCustomerId: Number.MAX_SAFE_INTEGER } }],
    ['an email of 320 characters', { identity: { email: `${'x'.repeat(318)}@y` } }],
    ['a phone as a number', { identity: { phone: 972501234567 } }],
    ['unknown extra fields', { context: { ip: '1.2.3.4' }, sentAt: [] }],
    ['SQL in every string', { event: "'; drop table contacts; --", tags: ["' or 1=1"], properties: { a: '$1' } }],
  ])('%s', async (_, fields) => {
    const answer = await track({ json: { ...EVENT, ...fields } })
    expect(answer.body).toMatchObject({ success: true, data: { queued: true } })
    expect(answer.status).toBe(202)
  })

  it('its own business in businessId', async () => {
    const answer = await track({ json: { ...EVENT, businessId: tenant.businessId } })
    expect(answer.status).toBe(202)
  })
})

const NO_FIELD = 'identity has no usable field: send an email, a phone or a platformCustomerId.'
const PLACEHOLDER = 'identity.email was ignored: it is a placeholder, not an identity'
const ROUNDED =
  'identity.phone was ignored: it looks rounded by a spreadsheet, so that many people share it; format the column as text'

describe('is refused', () => {
  it('with the reasons, when each field of the identity was dropped', async () => {
    const identity = { phone: '4.47912E+11', email: 'null', platform_customer_id: 7 }
    const { status, body } = await track({ json: { ...EVENT, identity, occuredAt: 1 } })
    const misnamed =
      'identity.platform_customer_id was ignored: there is no such field; did you mean identity.platformCustomerId?'
    expect(status).toBe(400)
    expect(body.error).toEqual({
      code: 'identity_required',
      issues: [
        { path: 'identity.email', message: PLACEHOLDER },
        { path: 'identity.phone', message: ROUNDED },
        { path: 'identity.platform_customer_id', message: misnamed },
      ],
    })
    expect(body.message).toBe(`${NO_FIELD} ${PLACEHOLDER}; ${ROUNDED}; ${misnamed}`)
  })

  it.each<[string, unknown, code: string, path: string | undefined]>([
    ['no event', { identity: EVENT.identity }, 'invalid_request', 'event'],
    ['a null event', { ...EVENT, event: null }, 'invalid_request', 'event'],
    ['a blank event', { ...EVENT, event: ' \t ' }, 'invalid_request', 'event'],
    ['a name of 65 characters', { ...EVENT, event: 'x'.repeat(65) }, 'invalid_request', 'event'],
    ['a name that is a number', { ...EVENT, event: 5 }, 'invalid_request', 'event'],
    ['a NUL in the name', { ...EVENT, event: NUL }, 'invalid_request', 'event'],
    ['a lone surrogate in the name', { ...EVENT, event: LONE }, 'invalid_request', 'event'],
    ['no identity', { event: 'signup' }, 'identity_required', undefined],
    ['a null identity', { ...EVENT, identity: null }, 'identity_required', undefined],
    ['an empty identity', { ...EVENT, identity: {} }, 'identity_required', undefined],
    ['an identity of unknown fields', { ...EVENT, identity: { name: 'Ada' } }, 'identity_required', undefined],
    ['nulls for an identity', { ...EVENT, identity: { email: null } }, 'identity_required', undefined],
    ['a placeholder', { ...EVENT, identity: { email: 'Undefined' } }, 'identity_required', 'identity.email'],
    ['a phone of 4 digits', { ...EVENT, identity: { phone: '1234' } }, 'identity_required', 'identity.phone'],
    ['an identity that is a string', { ...EVENT, identity: 'ada' }, 'invalid_request', 'identity'],
    ['an identity that is an array', { ...EVENT, identity: [] }, 'invalid_request', 'identity'],
    ['an email that is a number', { ...EVENT, identity: { email: 5 } }, 'invalid_request', 'identity.email'],
    ['an email without @', { ...EVENT, identity: { email: 'ada' } }, 'invalid_request', 'identity.email'],
    [
      'an email of 321 characters',
      { ...EVENT, identity: { email: `${'x'.repeat(319)}@y` } },
      'invalid_request',
      'identity.email',
    ],
    ['a phone that is a boolean', { ...EVENT, identity: { phone: true } }, 'invalid_request', 'identity.phone'],
    [
      'a phone of 65 characters',
      { ...EVENT, identity: { phone: '1'.repeat(65) } },
      'invalid_request',
      'identity.phone',
    ],
    [
      'a customer id beyond 2^53',
      { ...EVENT, identity: { platformCustomerId: 2 ** 53 } },
      'invalid_request',
      'identity.platformCustomerId',
    ],
    [
      'a customer id of 256 characters',
      { ...EVENT, identity: { platformCustomerId: 'x'.repeat(256) } },
      'invalid_request',
      'identity.platformCustomerId',
    ],
    [
      'a NUL in an identity',
      { ...EVENT, identity: { platformCustomerId: NUL } },
      'invalid_request',
      'identity.platformCustomerId',
    ],
    ['an occurredAt of a wrong type', { ...EVENT, occurredAt: true }, 'invalid_request', 'occurredAt'],
    ['an occurredAt that is not a time', { ...EVENT, occurredAt: 'lesson 5' }, 'invalid_occurred_at', 'occurredAt'],
    ['a date that does not exist', { ...EVENT, occurredAt: '2026-02-30' }, 'invalid_occurred_at', 'occurredAt'],
    ['a time 6 minutes ahead', { ...EVENT, occurredAt: Date.now() + 6 * MINUTE }, 'invalid_occurred_at', 'occurredAt'],
    ['a time before year 1', { ...EVENT, occurredAt: -62_135_596_800_001 }, 'invalid_occurred_at', 'occurredAt'],
    ['a type outside the seven', { ...EVENT, type: 'sale' }, 'invalid_request', 'type'],
    ['a type in other letters', { ...EVENT, type: 'Purchase' }, 'invalid_request', 'type'],
    ['a value that is a string', { ...EVENT, value: '5' }, 'invalid_request', 'value'],
    ['an empty currency', { ...EVENT, currency: ' ' }, 'invalid_request', 'currency'],
    ['a currency of 9 characters', { ...EVENT, currency: 'ABCDEFGHI' }, 'invalid_request', 'currency'],
    ['properties that are an array', { ...EVENT, properties: [] }, 'invalid_request', 'properties'],
    ['properties of 32,769 bytes', { ...EVENT, properties: jsonOfBytes(32_769) }, 'properties_too_large', undefined],
    [
      'properties of 32,769 bytes in fewer characters',
      { ...EVENT, properties: { a: '€'.repeat(10_921) } },
      'properties_too_large',
      undefined,
    ],
    ['tags that are a string', { ...EVENT, tags: 'vip' }, 'invalid_request', 'tags'],
    ['51 tags', { ...EVENT, tags: Array(51).fill('x') }, 'invalid_request', 'tags'],
    ['a tag of 65 characters', { ...EVENT, tags: ['x', 'x'.repeat(65)] }, 'invalid_request', 'tags.1'],
    ['a blank tag', { ...EVENT, tags: [' '] }, 'invalid_request', 'tags.0'],
    ['a null tag', { ...EVENT, tags: [null] }, 'invalid_request', 'tags.0'],
    ['a NUL in a tag', { ...EVENT, tags: [NUL] }, 'invalid_request', 'tags.0'],
    ['traits that are an array', { ...EVENT, traits: ['a'] }, 'invalid_request', 'traits'],
    ['a trait that is an object', { ...EVENT, traits: { plan: {} } }, 'invalid_request', 'traits.plan'],
    ['an empty idempotency key', { ...EVENT, idempotencyKey: '' }, 'invalid_request', 'idempotencyKey'],
    [
      'an idempotency key of 201 characters',
      { ...EVENT, idempotencyKey: 'x'.repeat(201) },
      'invalid_request',
      'idempotencyKey',
    ],
    ['a lone surrogate in an idempotency key', { ...EVENT, idempotencyKey: LONE }, 'invalid_request', 'idempotencyKey'],
    ['a visitor id of 129 characters', { ...EVENT, visitorId: 'x'.repeat(129) }, 'invalid_request', 'visitorId'],
    ['a NUL in a visitor id', { ...EVENT, visitorId: NUL }, 'invalid_request', 'visitorId'],
    ['a businessId that is a number', { ...EVENT, businessId: 5 }, 'invalid_request', 'businessId'],
    ['an array', [EVENT], 'invalid_request', ''],
    ['a string', 'event', 'invalid_request', ''],
    ['null', null, 'invalid_request', ''],
  ])('%s', async (_, json, code, path) => {
    const answer = await track({ json })
    expect(answer.body).toMatchObject({ success: false, error: { code } })
    expect(answer.status).toBe(400)
    expect(answer.body.error.issues?.[0]?.path).toBe(path)
    if (path) expect(answer.body.message).toContain(path)
  })

  it('an amount beyond what a number can hold', async () => {
    const raw = '{"event":"a","identity":{"email":"a@b.co"},"value":1e999}'
    const answer = await track({ raw, headers: { 'content-type': 'application/json' } })
    expect(answer.body.error.code).toBe('invalid_request')
  })

  it('properties that are nested extremely deep', async () => {
    const raw = `{"event":"a","identity":{"email":"a@b.co"},"properties":{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`
    const answer = await track({ raw, headers: { 'content-type': 'application/json' } })
    expect(answer.status).toBe(400)
  })

  it.each([
    [100, 202],
    [101, 400],
  ])('properties nested more than 100 levels deep: of %i levels answered %i', async (levels, status) => {
    const properties: unknown = JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)
    const answer = await track({ json: { ...EVENT, properties } })
    expect(answer.status).toBe(status)
    if (status === 400) expect(answer.body.error.issues?.[0]?.path).toBe('properties')
  })

  it('another business in businessId, whatever else is wrong', async () => {
    const other = await createBusiness(stack.sql)
    const answer = await track({ json: { event: 5, businessId: other.businessId } })
    expect([answer.status, answer.body.error.code]).toEqual([403, 'business_mismatch'])
  })

  it('with all that is wrong, in one answer', async () => {
    const answer = await track({ json: { event: '', identity: EVENT.identity, tags: 1, value: 'x' } })
    expect(answer.body.error.issues?.map(({ path }) => path)).toEqual(['event', 'value', 'tags'])
  })
})

describe('a body', () => {
  const json = { 'content-type': 'application/json' }
  const bodyOf = (bytes: number) => {
    const empty = JSON.stringify({ ...EVENT, pad: '' })
    return JSON.stringify({ ...EVENT, pad: 'x'.repeat(bytes - empty.length) })
  }
  const inChunks = (text: string) => new Blob([text]).stream()

  it.each<[string, string]>([
    ['nothing', ''],
    ['half an object', '{"event":'],
    ['two objects', '{}{}'],
    ['a bare word', 'event'],
  ])('that is %s is malformed', async (_, raw) => {
    const answer = await track({ raw, headers: json })
    expect([answer.status, answer.body.error.code]).toEqual([400, 'malformed_json'])
  })

  it('that is not UTF-8 is malformed', async () => {
    const answer = await track({ raw: new Uint8Array([0x22, 0xff, 0x22]), headers: json })
    expect([answer.status, answer.body.error.code]).toEqual([400, 'malformed_json'])
  })

  it.each<[string, Record<string, string>, number]>([
    ['JSON with a charset', { 'content-type': 'Application/JSON; charset=utf-8' }, 202],
    ['text', { 'content-type': 'text/plain' }, 415],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['nothing', {}, 415],
    ['JSON, compressed', { 'content-type': 'application/json', 'content-encoding': 'gzip' }, 415],
  ])('declared as %s', async (_, headers, status) => {
    const answer = await track({ raw: new TextEncoder().encode(JSON.stringify(EVENT)), headers })
    expect(answer.status).toBe(status)
    if (status === 415) expect(answer.body.error.code).toBe('unsupported_media_type')
  })

  it('may have 256 KiB, and not a byte more', async () => {
    expect((await track({ raw: bodyOf(256 * 1024), headers: json })).status).toBe(202)
    const answer = await track({ raw: bodyOf(256 * 1024 + 1), headers: json })
    expect([answer.status, answer.body.error.code]).toEqual([413, 'payload_too_large'])
  })

  it('is counted when it comes in chunks', async () => {
    expect((await track({ raw: inChunks(bodyOf(256 * 1024)), headers: json })).status).toBe(202)
    const answer = await track({ raw: inChunks(bodyOf(256 * 1024 + 1)), headers: json })
    expect([answer.status, answer.body.error.code]).toEqual([413, 'payload_too_large'])
  })
})

describe('a batch', () => {
  const batch = (said: Said) =>
    speak('POST', '/api/sdk/track/batch', { key: tenant.secretKey, ...said, headers: { ...ASYNC, ...said.headers } })

  it.each<[string, unknown]>([
    ['no events', {}],
    ['null for events', { events: null }],
    ['events that are an object', { events: {} }],
    ['no event', { events: [] }],
    ['501 events', { events: Array.from({ length: 501 }, () => EVENT) }],
    ['an array', [EVENT]],
  ])('with %s is refused as a whole', async (_, json) => {
    const answer = await batch({ json })
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request'])
  })

  it('may have 500 events', async () => {
    const answer = await batch({ json: { events: Array.from({ length: 500 }, () => EVENT) } })
    expect([answer.status, answer.body.data]).toEqual([202, { queued: true, received: 500 }])
  })

  it('for another business is refused', async () => {
    const { businessId } = await createBusiness(stack.sql)
    const answer = await batch({ json: { businessId, events: [EVENT] } })
    expect([answer.status, answer.body.error.code]).toEqual([403, 'business_mismatch'])
  })

  it('whose items all fail is answered at once, each item by itself', async () => {
    const { businessId } = await createBusiness(stack.sql)
    const events = [
      { ...EVENT, visitorId: 'v' },
      { ...EVENT, event: '' },
      { event: 'a' },
      { ...EVENT, occurredAt: Date.now() + 10 * MINUTE },
      { ...EVENT, tags: [NUL] },
      { ...EVENT, businessId },
      { ...EVENT, properties: jsonOfBytes(32_769) },
      null,
      'event',
    ]
    const answer = await batch({ json: { events } })
    expect(answer.status).toBe(200)
    expect(answer.body.success).toBe(true)
    expect(answer.body.message).toContain('Failures occurred')
    expect(answer.body.data).toMatchObject({ received: 9, recorded: 0, deduped: 0, failed: 9 })
    expect(answer.body.data).not.toHaveProperty('warnings')
    const failures = answer.body.data['failures'] as { index: number; error: string }[]
    expect(failures.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
    for (const [at, said] of [
      'visitorId',
      'event',
      'identity',
      'occurredAt',
      'tags.0',
      'businessId',
      'properties',
    ].entries())
      expect(failures[at]?.error).toContain(said)
  })

  it('says why the identity of an item was dropped', async () => {
    const events = [{ email: 'null' }, { phone: '4.47912E+11' }, {}].map((identity) => ({ ...EVENT, identity }))
    const { body } = await batch({ json: { events } })
    const failures = [`${NO_FIELD} ${PLACEHOLDER}`, `${NO_FIELD} ${ROUNDED}`, NO_FIELD]
    expect(body.data['failures']).toEqual(failures.map((error, index) => ({ index, error })))
  })

  it('reports at once the items that it did not keep', async () => {
    const answer = await batch({ json: { events: [EVENT, { event: 'a' }] } })
    expect(answer.status).toBe(202)
    expect(answer.body.data).toMatchObject({ queued: true, received: 2, failed: 1, failures: [{ index: 1 }] })
  })

  it('takes null for a visitor id as not sent', async () => {
    const answer = await batch({ json: { events: [{ ...EVENT, visitorId: null }] } })
    expect(answer.status).toBe(202)
  })

  it('may have 32 MiB', async () => {
    const raw = JSON.stringify({ events: [EVENT], pad: 'x'.repeat(32 * 1024 * 1024) })
    const headers = { 'content-type': 'application/json' }
    const answer = await batch({ raw, headers })
    expect([answer.status, answer.body.error.code]).toEqual([413, 'payload_too_large'])
    expect((await batch({ raw: raw.replace('xxxxxxxxxxxxxxxx'.repeat(8), ''), headers })).status).toBe(202)
  })
})
