// @long
/**
 * Callers that are slow on purpose, in headers, in bodies or before the first byte, do not prevent others from being
 * served.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, ASYNC, type Speak, speakTo } from '../front-door/http-client.ts'
import { type FrontDoorProcess, startFrontDoor } from '../support/front-door-process.ts'
import { type Line, openLine } from '../support/speak-raw.ts'
import { type Stack, type TestBusiness, createBusiness, openStack } from '../support/stack.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

let stack: Stack
let frontDoor: FrontDoorProcess
let speak: Speak
let mine: TestBusiness
let theirs: TestBusiness
const lines: Line[] = []
beforeEach(async () => {
  stack = await openStack()
  mine = await createBusiness(stack.sql)
  theirs = await createBusiness(stack.sql)
})
afterEach(async () => {
  for (const line of lines.splice(0)) line.hangUp()
  await frontDoor.stop()
  await stack.close()
})

/** An idle connection is closed a little after the longest wait for an answer. */
async function openFrontDoor(answerTimeoutMs: number): Promise<void> {
  frontDoor = await startFrontDoor(stack, { TRUST_PROXY: 'true', ANSWER_TIMEOUT_MS: String(answerTimeoutMs) })
  speak = speakTo(frontDoor.url)
}

async function openLines(count: number, first: (at: number) => string): Promise<Line[]> {
  const opened = await Promise.all(Array.from({ length: count }, () => openLine(frontDoor.url)))
  for (const [at, line] of opened.entries()) line.say(first(at))
  lines.push(...opened)
  return opened
}

/** Returns a request whose body is announced but not sent. */
const announce = (path: string, length: number, ...headers: string[]) =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    ...headers,
    '',
    '{',
  ].join('\r\n')
const keyOf = ({ secretKey }: TestBusiness) => `Authorization: Bearer ${secretKey}`
const from = (at: number) => `X-Forwarded-For: 203.0.${at >> 8}.${at & 255}`
const fromPage = (at: number, length: number) => announce('/api/sdk/identify', length, from(at))

const EVENT = { event: 'e', identity: { email: 'ada@example.com' } }
const code = ({ status, body }: Answer) => [status, body.error?.code]
const track = ({ secretKey: key }: TestBusiness) =>
  speak('POST', '/api/sdk/track', { key, json: EVENT, headers: ASYNC })
const batch = ({ secretKey: key }: TestBusiness) =>
  speak('POST', '/api/sdk/track/batch', { key, json: { events: [EVENT] }, headers: ASYNC })
const identify = (at: number) =>
  speak('POST', '/api/sdk/identify', {
    json: { ...EVENT, businessId: mine.businessId },
    headers: { 'x-forwarded-for': `198.51.100.${at}` },
  })

async function untilInFlight(count: number): Promise<void> {
  // Includes the request for the metrics.
  const expected = new RegExp(`^http_requests_in_flight ${count + 1}$`, 'm')
  await expect.poll(async () => (await speak('GET', '/metrics')).text, { timeout: PATIENCE_MS }).toMatch(expected)
}

describe('hundreds of slow callers', () => {
  it('keep no live call from being served, and are cut off', async () => {
    await openFrontDoor(1000)
    const dawdling = [
      ...(await openLines(120, () => 'POST /api/sdk/track HTTP/1.1\r\nHost: x\r\nX-Slow: ')),
      ...(await openLines(60, (at) => fromPage(at, 1000))),
      ...(await openLines(60, () => announce('/api/sdk/track', 1000, keyOf(mine)))),
      ...(await openLines(30, () => announce('/api/sdk/track', 1000))),
    ]
    const silent = [
      ...(await openLines(60, () => '')),
      ...(await openLines(60, () => 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')),
    ]
    const dawdle = setInterval(() => {
      for (const line of dawdling) line.say('a')
    })
    await untilInFlight(120)
    for (let call = 0; call < 20; call += 1) {
      expect((await track(mine)).status).toBe(202)
      expect((await track(theirs)).status).toBe(202)
      expect((await batch(theirs)).status).toBe(202)
    }
    await Promise.all([...dawdling, ...silent].map(({ ended }) => ended))
    clearInterval(dawdle)
    await untilInFlight(0)
    for (const line of [...dawdling, ...silent]) expect(line.heard()).not.toMatch(/^HTTP\/1\.1 (202|5)/)
  })
})

describe('on Node', () => {
  it('slow headers, silence and idleness are cut off too', async () => {
    frontDoor = await startFrontDoor(stack, { ANSWER_TIMEOUT_MS: '1000' }, 'node')
    const dawdling = await openLines(2, () => 'POST /api/sdk/track HTTP/1.1\r\nHost: x\r\nX-Slow: ')
    const silent = await openLines(2, () => '')
    const idle = await openLines(2, () => 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    const dawdle = setInterval(() => {
      for (const line of dawdling) line.say('a')
    })
    await Promise.all(lines.map(({ ended }) => ended))
    clearInterval(dawdle)
    for (const line of [...dawdling, ...silent]) expect(line.heard()).toMatch(/^HTTP\/1\.1 408 /)
    for (const line of idle) expect(line.heard()).toMatch(/^HTTP\/1\.1 200 /)
  })
})

describe('the memory for bodies', () => {
  beforeEach(() => openFrontDoor(5000))

  it('that slow uploads of one business take comes from its own share', async () => {
    await openLines(7, () => announce('/api/sdk/track/batch', 32 * 1024 * 1024, keyOf(mine)))
    const refused = () => lines.filter((line) => /^HTTP\/1\.1 503 .*"unavailable"/s.test(line.heard())).length
    await expect.poll(refused, { timeout: PATIENCE_MS }).toBe(6)
    expect((await track(mine)).status).toBe(202)
    expect((await batch(theirs)).status).toBe(202)
    // Once its callers are gone, there is capacity again.
    for (const line of lines) line.hangUp()
    await untilInFlight(0)
    expect((await batch(mine)).status).toBe(202)
  })

  it('that slow callers without a key take comes from one share for all of them', async () => {
    await openLines(256, (at) => fromPage(at, 256 * 1024))
    await untilInFlight(256)
    expect(code(await identify(1))).toEqual([503, 'unavailable'])
    expect((await track(mine)).status).toBe(202)
    expect((await batch(mine)).status).toBe(202)
    const [one] = lines
    one?.hangUp()
    await untilInFlight(255)
    expect((await identify(2)).status).toBe(202)
  })
})
