// @long
/**
 * A path is matched exactly as it was sent, on every runtime (decisions, "Envelope"): a proxy's rules and ours see the
 * same path.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isPlainTarget } from '../../src/front-door/http/check-path.ts'
import { type FrontDoorProcess, startFrontDoor } from '../support/front-door-process.ts'
import { RUNTIMES } from '../support/runtimes.ts'
import { readAnswers, speakRaw } from '../support/speak-raw.ts'
import { createBusiness, openStack, type Stack, type TestBusiness } from '../support/stack.ts'

const ID = '0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11'

/** A URL parser, or a router that is not strict, would read each of these as /healthz or as another path of ours. */
const OTHER_SPELLINGS = [
  '/x/../healthz',
  '/x/..\\healthz',
  '/x\\..\\healthz',
  '\\healthz',
  '/\\healthz',
  '/x/%2e%2e/healthz',
  '/x/.%2E/healthz',
  '/x%2f..%2fhealthz',
  '/x%5c..%5chealthz',
  '/./healthz',
  '/%2e/healthz',
  '/healthz/.',
  '/healthz/..',
  '/healthz/',
  '/healthz//',
  '//healthz',
  '///healthz',
  '//example.com/healthz',
  '/%68ealthz',
  '/HEALTHZ',
  '/healthz#x',
  '/healthz%23',
  '/healthz%3f',
  '/healthz%00',
  '/healthz;x',
  '/healthz%20',
  '/api/../healthz',
  '/api/contacts/../../healthz',
  '/..',
  '/.',
  '/api//custom-fields',
  '/api/contacts/../custom-fields',
  '/api/contacts/%2e%2e/custom-fields',
  `/api/contacts/${ID}/`,
  `/api/contacts/x\\..\\${ID}`,
  `/api/contacts/x%5c..%5c${ID}`,
  `/api/contacts/x/../${ID}`,
  `/api/contacts/${ID}%2ftimeline`,
  `/api/contacts/${ID}\\timeline`,
  `/api/contacts/./timeline`,
  `/api/contacts//timeline`,
  '/api/sdk/track/',
  'http://example.com/x/../healthz',
  'http://example.com//healthz',
]

/** The path stays the same, whatever surrounds it. */
const PLAIN: [target: string, status: number][] = [
  ['/healthz', 200],
  ['/healthz?', 200],
  ['/healthz?a=/../b\\c//d/%2e%2e/', 200],
  ['http://example.com/healthz', 200],
  ['HTTP://EXAMPLE.COM:80/healthz?x', 200],
  ['/api/custom-fields', 200],
  [`/api/contacts?email=a//b\\..\\c@d`, 200],
]

describe.each(Object.keys(RUNTIMES))('on %s', (runtime) => {
  let stack: Stack
  let frontDoor: FrontDoorProcess
  let tenant: TestBusiness
  beforeAll(async () => {
    stack = await openStack()
    frontDoor = await startFrontDoor(stack, {}, runtime)
    tenant = await createBusiness(stack.sql)
  })
  afterAll(async () => {
    await frontDoor.stop()
    await stack.close()
  })

  async function ask(target: string, method = 'GET') {
    const lines = [`Host: example.com`, `Authorization: Bearer ${tenant.secretKey}`, 'Connection: close']
    const { text } = await speakRaw(frontDoor.url, [`${method} ${target} HTTP/1.1`, ...lines, '', ''].join('\r\n'))
    // Refusals by the server itself may lack a body and a length.
    return text.startsWith('HTTP/1.1 400 Bad Request\r\n') ? { status: 400, body: '' } : readAnswers(text, method)[0]!
  }

  it.each(OTHER_SPELLINGS)('%s is not a path of ours', async (target) => {
    const { status, body } = await ask(target)
    // A target that begins with neither a slash nor a scheme is not HTTP.
    if (!/^(\/|http:)/.test(target)) expect(status).toBe(400)
    else {
      expect(status).toBe(404)
      expect((JSON.parse(body) as { error: object }).error).toEqual({ code: 'not_found' })
    }
  })

  it.each(PLAIN)('%s is answered with %i', async (target, status) => {
    expect((await ask(target)).status).toBe(status)
  })

  it('refuses other spellings for every method alike', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])
      expect([method, (await ask('/x/../api/sdk/track', method)).status]).toEqual([method, 404])
    expect((await ask('/api/sdk/track', 'DELETE')).status).toBe(405)
  })
})

it('an encoded letter or percent sign is not another spelling of a segment', () => {
  for (const target of ['/a/%252e%252e/b', '/a/%61', '/a/...', '/a/.b', '/a/b.', '/é', '/a?b#c'])
    expect([target, isPlainTarget(target)]).toEqual([target, true])
})
