// @long
/**
 * Requests that two parsers could read differently: what we take for two requests must not look like one to a proxy
 * (docs/security.md).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FrontDoorProcess, startFrontDoor } from '../support/front-door-process.ts'
import { RUNTIMES } from '../support/runtimes.ts'
import { speakRaw } from '../support/speak-raw.ts'
import { createBusiness, openStack, type Stack, type TestBusiness } from '../support/stack.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

const EVENT = '{"event":"e","identity":{"email":"ada@example.com"}}'
const CHUNKED = `${EVENT.length.toString(16)}\r\n${EVENT}\r\n0\r\n\r\n`
const SECOND = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
const ZERO = `0\r\n\r\n${SECOND}`

/** Header lines and the bytes after them. Each contains a second request that only one of two readings sees. */
const TWO_READINGS: Record<string, [lines: string[], rest: string]> = {
  'a length and chunks': [[`Content-Length: ${ZERO.length}`, 'Transfer-Encoding: chunked'], ZERO],
  'chunks and a length': [['Transfer-Encoding: chunked', `Content-Length: 4`], ZERO],
  'chunks with a tab before the word': [['Transfer-Encoding:\tchunked', `Content-Length: ${ZERO.length}`], ZERO],
  'chunks with a space before the colon': [['Transfer-Encoding : chunked', `Content-Length: ${ZERO.length}`], ZERO],
  'chunks by another name': [['Transfer-Encoding: xchunked', `Content-Length: ${ZERO.length}`], ZERO],
  'chunks with a vertical tab': [['Transfer-Encoding: \vchunked', `Content-Length: ${ZERO.length}`], ZERO],
  'chunks twice': [['Transfer-Encoding: chunked, chunked', `Content-Length: ${ZERO.length}`], ZERO],
  'chunks, then identity': [['Transfer-Encoding: chunked, identity', `Content-Length: ${ZERO.length}`], ZERO],
  'identity, then chunks in a second line': [
    ['Transfer-Encoding: identity', 'Transfer-Encoding: chunked', `Content-Length: ${ZERO.length}`],
    ZERO,
  ],
  'a folded header': [['X-A: b', ' Transfer-Encoding: chunked', `Content-Length: ${ZERO.length}`], ZERO],
  'two lengths': [[`Content-Length: 0`, `Content-Length: ${ZERO.length}`], ZERO],
  'two lengths in one line': [[`Content-Length: 0, ${ZERO.length}`], ZERO],
  'a length with a sign': [[`Content-Length: +${ZERO.length}`], ZERO],
  'a length in hexadecimal': [[`Content-Length: 0x${ZERO.length.toString(16)}`], ZERO],
  'a length with a space inside': [[`Content-Length: 1 0`], ZERO],
  'a length beyond 2^64': [['Content-Length: 18446744073709551616'], ZERO],
  'a length and a NUL': [[`Content-Length: 5\0`], ZERO],
  'a bare line feed in a header': [[`X-A: b\nContent-Length: ${ZERO.length}`], ZERO],
  'a bare carriage return in a header': [[`X-A: b\rContent-Length: ${ZERO.length}`], ZERO],
  'a header without a colon': [['Content-Length', `X-A: b`], ZERO],
  'a chunk size with a sign': [['Transfer-Encoding: chunked'], `+0\r\n\r\n${SECOND}`],
  'a chunk size of 2^64': [['Transfer-Encoding: chunked'], `10000000000000000\r\n${ZERO}`],
  'a chunk size with spaces': [['Transfer-Encoding: chunked'], `0 0\r\n\r\n${SECOND}`],
  'a negative chunk size': [['Transfer-Encoding: chunked'], `-1\r\n${ZERO}`],
  'a chunk that ends in a bare line feed': [['Transfer-Encoding: chunked'], `5\nhello\n0\n\n${SECOND}`],
  'a chunk longer than its size': [['Transfer-Encoding: chunked'], `2\r\nhello\r\n${ZERO}`],
  'an extension with a line feed': [['Transfer-Encoding: chunked'], `0;a\nb\r\n\r\n${SECOND}`],
}

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

  async function statusesOf(lines: string[], rest: string, end = 'close'): Promise<number[]> {
    const head = [
      'POST /api/sdk/track HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${tenant.secretKey}`,
      'Content-Type: application/json',
      'Prefer: respond-async',
      ...(end === '' ? [] : [`Connection: ${end}`]),
      ...lines,
    ]
    const { text } = await speakRaw(frontDoor.url, `${head.join('\r\n')}\r\n\r\n${rest}`, { patienceMs: 2000 })
    return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)]
      .map(([, status]) => Number(status))
      .filter((status) => status !== 100)
  }

  it('a body with a length or in chunks is taken', async () => {
    // On a busy machine, the connection to Redis can be ready later than the front door.
    await expect
      .poll(() => statusesOf(['Transfer-Encoding: chunked'], CHUNKED), { timeout: PATIENCE_MS })
      .toEqual([202])
    expect(await statusesOf([`Content-Length: ${EVENT.length}`], EVENT)).toEqual([202])
  })

  it.each(Object.entries(TWO_READINGS))('with %s there is no second request', async (_, [lines, rest]) => {
    const statuses = await statusesOf(lines, rest, '')
    expect(statuses.filter((status) => status < 400)).toEqual([])
    for (const status of statuses) expect(status).toBeLessThan(500)
  })
})
