/**
 * Requests that no HTTP client would send: the front door gives a well-formed answer or closes the connection, and
 * continues to serve others (docs/security.md).
 */
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FrontDoorProcess, startFrontDoor } from '../support/front-door-process.ts'
import { type RawAnswer, readAnswers, speakRaw } from '../support/speak-raw.ts'
import { createBusiness, openStack, type Stack, type TestBusiness } from '../support/stack.ts'
import { type Speak, speakTo } from './http-client.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

let stack: Stack
let frontDoor: FrontDoorProcess
let speak: Speak
let tenant: TestBusiness
beforeAll(async () => {
  stack = await openStack()
  frontDoor = await startFrontDoor(stack)
  speak = speakTo(frontDoor.url)
  tenant = await createBusiness(stack.sql)
})
afterAll(async () => {
  await frontDoor.stop()
  await stack.close()
})

const EVENT = '{"event":"e","identity":{"email":"ada@example.com"}}'
const get = (path: string, ...lines: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Connection: close', ...lines, '', ''].join('\r\n')
const ask = async (sent: string): Promise<RawAnswer[]> => readAnswers((await speakRaw(frontDoor.url, sent)).text)
const post = (key: string, length: number, body = EVENT) =>
  [
    'POST /api/sdk/track HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    'Prefer: respond-async',
    'Connection: close',
    `Content-Length: ${length}`,
    '',
    body,
  ].join('\r\n')
const codeOf = ({ body }: RawAnswer) => (JSON.parse(body) as { error?: { code: string } }).error?.code

describe('the Host', () => {
  it.each(['example.com', 'example.com:8080', '127.0.0.1', '[::1]:80', 'a_b-c.d.'])('may be %j', async (host) => {
    const sent = get('/api/contacts?email=a@b', `Host: ${host}`, `Authorization: Bearer ${tenant.secretKey}`)
    expect((await ask(sent)).map(({ status }) => status)).toEqual([200])
  })

  it.each(['', 'a b', 'a/b', 'a?b', 'a#b', 'u@a', 'a\\b', 'a:99999', '999.1.1.1', '1.2.3.4.5', 'a/healthz?'])(
    'may not be %j: it cannot lead to another path',
    async (host) => {
      for (const path of ['/api/contacts?email=a@b', '/nothing']) {
        const [answer] = await ask(get(path, `Host: ${host}`, `Authorization: Bearer ${tenant.secretKey}`))
        expect([answer?.status, answer && codeOf(answer)]).toEqual([400, 'invalid_request'])
        expect(answer?.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      }
    },
  )

  it('is checked again on a connection whose last request was good', async () => {
    const statuses = []
    for (const host of ['a', 'a', 'a/b', 'a', 'a?b', 'a:99999', 'a']) {
      const [answer] = await ask(get('/healthz', `Host: ${host}`))
      statuses.push(answer?.status)
    }
    expect(statuses).toEqual([200, 200, 400, 200, 400, 400, 200])
  })
})

describe('headers', () => {
  /** Returns a request with exactly `bytes` bytes before its body. */
  const ofBytes = (bytes: number) => {
    const empty = get('/healthz', 'Host: x', 'X-Filler: ')
    return get('/healthz', 'Host: x', `X-Filler: ${'a'.repeat(bytes - empty.length)}`)
  }
  const ofCount = (count: number) =>
    get('/healthz', 'Host: x', ...Array.from({ length: count - 2 }, (_, at) => `X-${at}: 1`))

  it.each([
    ['of 64 KiB', () => ofBytes(65_536), 200],
    ['of 64 KiB and a byte', () => ofBytes(65_537), 431],
    ['of a megabyte', () => ofBytes(1_000_000), 431],
    ['in a number of 198', () => ofCount(198), 200],
    ['in a number of 199', () => ofCount(199), 431],
    ['in a number of 10,000', () => ofCount(10_000), 431],
  ])('are taken or refused by their size and number: %s', async (_, make, status) => {
    expect((await ask(make())).map((answer) => answer.status)).toEqual([status])
  })

  it('say of every answer that its type must not be guessed and that it must not be stored', async () => {
    const answers = await Promise.all([
      speak('GET', '/healthz'),
      speak('GET', '/openapi.json'),
      speak('GET', '/nothing'),
      speak('POST', '/api/sdk/track', { key: tenant.secretKey, json: {} }),
      speak('GET', '/api/custom-fields', { key: tenant.secretKey }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 400, 200])
    for (const { headers } of answers) {
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('cache-control')).toBe('no-store')
      for (const banner of ['server', 'x-powered-by', 'set-cookie']) expect(headers.has(banner)).toBe(false)
    }
  })

  it('lead from the former address of the reference to its page', async () => {
    const response = await fetch(`${frontDoor.url}/openapi`, { redirect: 'manual' })
    expect([response.status, response.headers.get('location')]).toEqual([302, '/dashboard/reference'])
  })
})

describe('a length', () => {
  it('far beyond any limit is refused in the envelope, once the caller is known', async () => {
    const [known] = await ask(post(tenant.secretKey, 10_000_000_000))
    expect([known?.status, known && codeOf(known)]).toEqual([413, 'payload_too_large'])
    const [unknown] = await ask(post('sk_live_unknown', 10_000_000_000))
    expect([unknown?.status, unknown && codeOf(unknown)]).toEqual([401, 'invalid_api_key'])
  })

  it('that is shorter than the body turns it into two broken requests', async () => {
    for (const { status } of await ask(post(tenant.secretKey, 10))) expect(status).toBe(400)
  })

  it('that is longer than the body holds no memory once its caller is gone', async () => {
    const { text } = await speakRaw(frontDoor.url, post(tenant.secretKey, 200_000), { hangUp: true })
    expect(text === '' || readAnswers(text)[0]?.status === 400).toBe(true)
    await expect
      .poll(async () => (await speak('GET', '/metrics')).text, { timeout: PATIENCE_MS })
      .toMatch(/^http_requests_in_flight 1$/m)
  })

  it.each(['-1', '+5', '0x10', '5, 5', '5\r\nContent-Length: 6', 'five', '5\r\nTransfer-Encoding: chunked'])(
    'that is none is refused: %j',
    async (length) => {
      const sent = post(tenant.secretKey, 5).replace('Content-Length: 5', `Content-Length: ${length}`)
      expect((await ask(sent)).map(({ status }) => status)).toEqual([400])
    },
  )
})

describe('a body', () => {
  const padded = (start: string, bytes: number) =>
    `${start},"pad":"${'x'.repeat(bytes - start.length - ',"pad":""}'.length)}"}`
  const KIB = 1024
  const event = '{"event":"e","identity":{"email":"ada@example.com"}'
  const paths: [path: string, start: string, limit: number, passes: number][] = [
    ['/api/sdk/track', event, 256 * KIB, 202],
    ['/api/sdk/identify', event, 256 * KIB, 202],
    ['/api/sdk/track/batch', `{"events":[${event}}]`, 32 * KIB * KIB, 202],
    ['/api/campaigns', '{"name":"n","trigger":{"event":"e"}', 256 * KIB, 200],
  ]

  it.each(paths)(
    'sent to %s may be as long as its limit, and not a byte longer',
    async (path, start, limit, passes) => {
      const said = (bytes: number) => ({
        key: tenant.secretKey,
        raw: padded(start, bytes),
        headers: { 'content-type': 'application/json', prefer: 'respond-async' },
      })
      expect((await speak('POST', path, said(limit))).status).toBe(passes)
      const refused = await speak('POST', path, said(limit + 1))
      expect([refused.status, refused.body.error.code]).toEqual([413, 'payload_too_large'])
    },
  )

  it('that is compressed is refused, as it may be a bomb', async () => {
    const bomb = gzipSync('0'.repeat(10_000_000))
    for (const encoding of ['gzip', 'br', 'deflate', 'zstd', 'gzip, identity']) {
      const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
      const answer = await speak('POST', '/api/sdk/track', {
        key: tenant.secretKey,
        raw: new Uint8Array(bomb),
        headers,
      })
      expect([encoding, answer.status, answer.body.error.code]).toEqual([encoding, 415, 'unsupported_media_type'])
    }
  })
})
