// @long
/** What callers write stays data: in queries to both databases, in logs, and in our own patterns and objects. */
import { Buffer } from 'node:buffer'
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { runtimeCommand } from '../../src/embedded/processes/run-engine.ts'
import { type Answer, ASYNC, type Speak, speakTo } from '../front-door/http-client.ts'
import { startFrontDoor } from '../support/front-door-process.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { runs } from '../support/runs.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(openService)
let speak: Speak
let tenant: TestBusiness
let contactId: string
beforeAll(async () => {
  speak = speakTo(service.url)
  tenant = await createBusiness(service.sql)
  const json = { event: 'e', identity: { email: 'ann@x.io' } }
  const answer = await speak('POST', '/api/sdk/track', { key: tenant.secretKey, json })
  contactId = String(answer.body.data['contactId'])
})

const PIECES = [
  "'",
  '"',
  '`',
  ';',
  '--',
  '/*',
  '\\',
  '\0',
  '%',
  '_',
  '$1',
  '{id: String}',
  ')',
  ' or 1=1',
  ' union select 1',
  "'); drop table contacts; --",
  "\\' or sleep(9) or \\'",
  '\n',
  '\uD800',
  '🎉',
  '../',
  '00000000-0000-0000-0000-000000000000',
  '9'.repeat(30),
  '-1',
]
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 5 })), { maxLength: 6 })
  .map((all) => all.join(''))
const encoded = hostile.map((text) => encodeURIComponent(text.toWellFormed()))
/** Cursors of the right form with arbitrary contents. */
const cursors = fc.oneof(
  encoded,
  fc.tuple(fc.bigInt(), hostile).map(([ms, id]) => Buffer.from(`${ms} ${id}`).toString('base64url')),
  fc.bigInt().map((ms) => Buffer.from(`${ms} ${randomUUID()}`).toString('base64url')),
  fc.tuple(fc.bigInt(), hostile).map(([ms, id]) => `${ms}_${encodeURIComponent(id.toWellFormed())}`),
  fc.bigInt().map((ms) => `${ms}_${randomUUID()}`),
)
const parameter = fc.constantFrom('email', 'phone', 'platformCustomerId', 'limit', 'businessId', '__proto__')
const questions = fc.oneof(
  fc.tuple(parameter, encoded).map(([name, text]) => `/api/contacts?${name}=${text}`),
  fc
    .tuple(fc.constantFrom('', '/timeline', '/identifications'), encoded)
    .map(([rest, id]) => `/api/contacts/${id}${rest}`),
  fc
    .tuple(fc.constantFrom('timeline', 'identifications'), cursors, encoded)
    .map(([list, cursor, limit]) => `/api/contacts/:mine/${list}?cursor=${cursor}&limit=${limit}`),
  fc
    .tuple(fc.constantFrom('timeline', 'identifications'), cursors)
    .map(([list, cursor]) => `/api/contacts/:mine/${list}?cursor=${cursor}`),
  encoded.map((id) => `/api/campaigns/${id}`),
)

describe('the databases', () => {
  it('are asked nothing else by ids, cursors, limits and identities of any form', async () => {
    const ask = (path: string) => speak('GET', path.replace(':mine', contactId), { key: tenant.secretKey })
    const property = fc.asyncProperty(questions, async (path) => {
      const { status, body, text }: Answer = await ask(path)
      expect([200, 400, 404]).toContain(status)
      if (status !== 200) expect(['invalid_request', 'not_found']).toContain(body.error.code)
      expect(text).not.toMatch(/syntax|DB::Exception|relation|column|select |stack/i)
    })
    await fc.assert(property, { seed: 1, numRuns: runs(300) })
    const [row] = await service.sql<[{ n: number }]>`select count(*)::int as n from contacts`
    expect(row.n).toBe(1)
    expect((await ask('/api/contacts/:mine/timeline')).body.data['events']).toHaveLength(1)
  })
})

describe('a log', () => {
  it('has one line for each request, which no caller can forge', async () => {
    const frontDoor = await startFrontDoor(service, { LOG_LEVEL: 'trace' })
    const forged = '"}\n{"level":"fatal","msg":"forged"}\r\n\u001b[31m'
    const ask = speakTo(frontDoor.url)
    const key = tenant.secretKey
    const json = {
      event: forged,
      identity: { platformCustomerId: forged },
      tags: [forged],
      properties: { [forged]: 1 },
    }
    await ask('POST', '/api/sdk/track', { key, json, headers: ASYNC })
    await ask('POST', '/api/sdk/track', { key, json: { ...json, type: forged, traits: { [forged]: {} } } })
    await ask('GET', `/${encodeURIComponent(forged)}?${encodeURIComponent(forged)}=1`)
    await ask('GET', `/api/contacts/${encodeURIComponent(forged)}`, { key })
    await ask('GET', '/healthz', {
      headers: { 'x-request-id': '{"level":"fatal"}', 'user-agent': '"}{"msg":"forged"' },
    })
    await frontDoor.stop()
    const answered = frontDoor.lines().filter(({ msg }) => msg === 'answered')
    expect(answered).toHaveLength(5)
    expect(JSON.stringify(frontDoor.lines())).not.toContain('forged')
    expect(answered.at(-1)).toMatchObject({ level: 'debug', requestId: '{"level":"fatal"}' })
  })
})

describe('our patterns', () => {
  it('take no text of any length for ever, in any field', async () => {
    // In a separate process, because a pattern that never ends could not be stopped otherwise.
    const [command = '', ...args] = runtimeCommand(new URL('read-long-texts.ts', import.meta.url), [])
    const { stdout } = await promisify(execFile)(command, args, { timeout: 60_000, killSignal: 'SIGKILL' })
    expect(Number(stdout)).toBeGreaterThan(1000)
  })
})

describe('our objects', () => {
  const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', 'then', 'toJSON']

  it('are no place for names that mean something to JavaScript: each is data like any other', async () => {
    const key = tenant.secretKey
    for (const name of NAMES) {
      const raw = `{"event":"${name}","identity":{"platformCustomerId":"of ${name}"},"currency":"USD","value":1,"tags":["${name}"],
        "idempotencyKey":"${name}","visitorId":"${name}","traits":{"${name}":"${name}","constructor":"c"},"properties":{"${name}":{"${name}":"${name}"}}}`
      const headers = { 'content-type': 'application/json' }
      const answer = await speak('POST', '/api/sdk/track', { key, raw, headers })
      expect([name, answer.status]).toEqual([name, 200])
      const id = String(answer.body.data['contactId'])
      const read = await speak('GET', `/api/contacts/${id}`, { key })
      const fields = /^[a-z]+$/.test(name) ? { [name]: name, constructor: 'c' } : { constructor: 'c' }
      expect(read.body.data['contact']).toMatchObject({
        tags: [name],
        events: [{ event: name, count: 1 }],
        customFields: name === 'constructor' ? (expect.anything() as unknown) : fields,
        revenue: { total: 1 },
      })
      const timeline = await speak('GET', `/api/contacts/${id}/timeline`, { key })
      expect(timeline.text).toContain(`"properties":{"${name}":{"${name}":"${name}"}}`)
    }
    expect(Object.keys(Object.prototype)).toEqual([])
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})
