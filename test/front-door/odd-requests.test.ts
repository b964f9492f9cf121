/**
 * Requests that are well-formed HTTP but unusual otherwise: each has one reading, and never causes a 5xx
 * (docs/security.md).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FrontDoor, runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { createBusiness, openStack, type Stack, type TestBusiness } from '../support/stack.ts'
import { ASYNC, type Speak, speakTo } from './http-client.ts'

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

const JSON_TYPE = { 'content-type': 'application/json' }
async function ask(raw: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = JSON_TYPE) {
  const answer = await speak('POST', '/api/sdk/track', {
    key: tenant.secretKey,
    raw,
    headers: { ...ASYNC, ...headers },
  })
  return { ...answer, outcome: [answer.status, answer.body.error?.code ?? answer.body.data['event']] }
}
const EVENT = '"event":"e","identity":{"email":"a@b"}'
const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth)
const bytes = (...parts: (string | number)[]) =>
  new Uint8Array(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...new TextEncoder().encode(part)])))

describe('JSON', () => {
  it.each<[string, string | Uint8Array<ArrayBuffer>, [number, unknown]]>([
    ['a key twice: the last counts', `{${EVENT},"event":"last"}`, [202, 'last']],
    ['a key twice, once escaped', `{${EVENT},"ev\\u0065nt":"last"}`, [202, 'last']],
    ['an event in __proto__', '{"__proto__":{"event":"e"},"identity":{"email":"a@b"}}', [400, 'invalid_request']],
    ['an identity in __proto__', '{"event":"e","identity":{"__proto__":{"email":"a@b"}}}', [400, 'identity_required']],
    ['a constructor', `{${EVENT},"constructor":{"prototype":{"value":1}}}`, [202, 'e']],
    ['1e400', `{${EVENT},"value":1e400}`, [400, 'invalid_request']],
    ['1e400 in a detail', `{${EVENT},"properties":{"a":1e400}}`, [202, 'e']],
    ['-0', `{${EVENT},"value":-0}`, [202, 'e']],
    ['5e-324', `{${EVENT},"value":5e-324}`, [202, 'e']],
    ['a number as text', `{${EVENT},"value":"5"}`, [400, 'invalid_request']],
    ['NaN', `{${EVENT},"value":NaN}`, [400, 'malformed_json']],
    ['a leading zero', `{${EVENT},"value":05}`, [400, 'malformed_json']],
    ['a comment', `{${EVENT}/* */}`, [400, 'malformed_json']],
    ['a trailing comma', `{${EVENT},}`, [400, 'malformed_json']],
    ['two documents', `{${EVENT}}{${EVENT}}`, [400, 'malformed_json']],
    ['a line of its own after it', `{${EVENT}}\r\n\t `, [202, 'e']],
    ['an array', `[{${EVENT}}]`, [400, 'invalid_request']],
    ['null', 'null', [400, 'invalid_request']],
    ['nothing', '', [400, 'malformed_json']],
    ['an identity that is an array', '{"event":"e","identity":["a@b"]}', [400, 'invalid_request']],
    ['an event that is an object', '{"event":{"toString":"e"},"identity":{"email":"a@b"}}', [400, 'invalid_request']],
    ['50,000 arrays in each other', nested(50_000, '[', ']'), [400, 'invalid_request']],
    ['50,000 arrays in an unknown field', `{${EVENT},"x":${nested(50_000, '[', ']')}}`, [202, 'e']],
    [
      '50,000 arrays in a detail',
      `{${EVENT},"properties":{"a":${nested(50_000, '[', ']')}}}`,
      [400, 'properties_too_large'],
    ],
    [
      '101 objects in a detail',
      `{${EVENT},"properties":${'{"a":'.repeat(101)}1${'}'.repeat(101)}}`,
      [400, 'invalid_request'],
    ],
    ['100,000 open brackets', '['.repeat(100_000), [400, 'malformed_json']],
    ['a byte order mark', bytes(0xef, 0xbb, 0xbf, `{${EVENT}}`), [202, 'e']],
    ['UTF-16', bytes(...`{${EVENT}}`.split('').flatMap((sign) => [sign, 0])), [400, 'malformed_json']],
    ['a byte that is not UTF-8', bytes('{"event":"', 0xff, '","identity":{"email":"a@b"}}'), [400, 'malformed_json']],
    ['an overlong slash', bytes('{"event":"', 0xc0, 0xaf, '","identity":{"email":"a@b"}}'), [400, 'malformed_json']],
    [
      'a surrogate in UTF-8',
      bytes('{"event":"', 0xed, 0xa0, 0x80, '","identity":{"email":"a@b"}}'),
      [400, 'malformed_json'],
    ],
  ])('%s', async (_, raw, outcome) => {
    expect((await ask(raw)).outcome).toEqual(outcome)
  })
})

describe('a time', () => {
  it.each([
    '"2026-02-30"',
    '"0000-12-31"',
    '"-000001-01-01"',
    '"+010000-01-01"',
    '"2026-01-01T24:00:00Z"',
    '"2026-01-01T00:00:00+24:00"',
    '"2026-01-01 00:00:00"',
    '"2026-W01-1"',
    '"2026-001"',
    '"now"',
    '""',
    '"9999-12-31"',
    '8640000000000001',
    '-62135596800001',
    '1e400',
  ])('%s is refused', async (time) => {
    const { status, body } = await ask(`{${EVENT},"occurredAt":${time}}`)
    expect([status, body.error.code]).toEqual([400, time === '1e400' ? 'invalid_request' : 'invalid_occurred_at'])
  })

  it.each([
    '"0001-01-01"',
    '"2026-01-01T00:00Z"',
    '"2024-02-29"',
    '-62135596800000',
    '-0',
    '0.5',
    '"2026-01-01T00:00:00.123456789+14:00"',
  ])('%s is taken', async (time) => {
    expect((await ask(`{${EVENT},"occurredAt":${time}}`)).outcome).toEqual([202, 'e'])
  })
})

describe('a content type', () => {
  it.each([
    ['application/json', 202],
    ['APPLICATION/JSON', 202],
    ['application/json; charset=utf-8', 202],
    ['application/json ;charset="UTF-8"', 202],
    ['application/jsonp', 415],
    ['application/json5', 415],
    ['application/json, text/plain', 415],
    ['text/plain; a=application/json', 415],
    ['text/plain', 415],
    ['text/json', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=x', 415],
    ['application/vnd.api+json', 415],
    ['json', 415],
    [';application/json', 415],
  ])('%s is answered with %i', async (type, status) => {
    expect((await ask(`{${EVENT}}`, { 'content-type': type })).status).toBe(status)
  })
})

describe('headers', () => {
  it('a cookie is ignored, whatever it says', async () => {
    for (const cookie of ['session=1', `key=${tenant.secretKey}`, '=', 'a'.repeat(4000)]) {
      expect((await ask(`{${EVENT}}`, { ...JSON_TYPE, cookie })).outcome).toEqual([202, 'e'])
      const unkeyed = await speak('POST', '/api/sdk/track', { json: {}, headers: { cookie } })
      expect([unkeyed.status, unkeyed.headers.has('set-cookie')]).toEqual([401, false])
    }
  })

  it.each(['respond-async', 'RESPOND-ASYNC', 'wait=5, respond-async', 'respond-async; x=y', ' respond-async ,'])(
    'Prefer: %s is honoured, and the answer says so',
    async (prefer) => {
      const { status, headers } = await ask(`{${EVENT}}`, { ...JSON_TYPE, prefer })
      expect([status, headers.get('preference-applied')]).toEqual([202, 'respond-async'])
    },
  )

  it.each([
    ['a', true],
    ['~ !', true],
    ['a'.repeat(128), true],
    ['a'.repeat(129), false],
    ['caf\u00e9', false],
    ['a\tb', false],
  ])('X-Request-Id: %j comes back: %s', async (id, comesBack) => {
    const { headers } = await ask(`{${EVENT}}`, { ...JSON_TYPE, 'x-request-id': id })
    expect(headers.get('x-request-id') === id).toBe(comesBack)
  })

  it('a key in a query, a form or another header is ignored', async () => {
    const path = `/api/custom-fields?key=${tenant.secretKey}&authorization=Bearer%20${tenant.secretKey}`
    const headers = { 'x-api-key': tenant.secretKey, 'proxy-authorization': `Bearer ${tenant.secretKey}` }
    expect((await speak('GET', path, { headers })).status).toBe(401)
  })

  it('a method in another header is not the method', async () => {
    const headers = { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE', 'x-original-url': '/readyz' }
    const answer = await speak('GET', '/api/custom-fields', { key: tenant.secretKey, headers })
    expect([answer.status, 'customFields' in answer.body.data]).toEqual([200, true])
  })
})
