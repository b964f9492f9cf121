/** How the contents of an answer are read, at each limit and one past it. */
import { describe, expect, it } from 'vitest'
import { readAnswer } from '../../../src/sdk/node/answer.ts'
import { Sluice } from '../../../src/sdk/node/sluice.ts'
import { answerWith, openHostileService } from './hostile-service.ts'

describe('a Retry-After', () => {
  const [now, then] = [8000, 308_000].map((at) => new Date(at).toUTCString()) as [string, string]
  it.each([
    [{ 'retry-after': '299' }, 299_000],
    [{ 'retry-after': '300' }, 300_000],
    [{ 'retry-after': '301' }, 300_000],
    [{ 'retry-after': then, date: now }, 300_000],
    [{ 'retry-after': new Date(309_000).toUTCString(), date: now }, 300_000],
  ])('in the headers %j is a pause of %i ms', (headers, retryAfterMs) => {
    expect(readAnswer(new Response('{}', { status: 429, headers }), '{}')).toMatchObject({ retryAfterMs })
  })
})

const MIB = 1024 * 1024
const [HEAD, TAIL] = ['{"success":true,"data":{"event":"', '"}}']

it.each([
  [8 * MIB, 1],
  [8 * MIB + 1, 2],
])('an answer of %i bytes takes tries: %i', async (bytes, attempts) => {
  const stub = await openHostileService()
  const sluice = new Sluice({ apiKey: 'sk_live_test', baseUrl: stub.url, minRetryMs: 1, maxRetryMs: 1 })
  try {
    const body = HEAD + 'e'.repeat(bytes - HEAD.length - TAIL.length) + TAIL
    const long = answerWith(200, { 'content-type': 'application/json' }, body)
    stub.behave(({ number }) => (number === 1 ? long : undefined))
    const result = await sluice.trackNow({ event: 'e', identity: { email: 'ann@x.io' } })
    expect(result).toMatchObject({ ok: true, attempts })
  } finally {
    await sluice.close(0)
    await stub.close()
  }
})
