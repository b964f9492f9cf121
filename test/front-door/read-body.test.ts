import { describe, expect, it } from 'vitest'
import { releaseBodyMemory } from '../../src/front-door/http/body-memory.ts'
import { BODY_LIMITS, type BodyLimit, readJson } from '../../src/front-door/http/read-body.ts'

const LIMIT: BodyLimit = { bytes: 1000, room: 100_000, share: 50_000, media: ['application/json'], seconds: 20 }

type Body = string | ReadableStream

function sendTo(frontDoor: ReturnType<typeof openFrontDoor>, body: Body, of = 'a business', limit: BodyLimit = LIMIT) {
  const headers = new Headers({ 'content-type': 'application/json' })
  if (typeof body === 'string') headers.set('content-length', String(body.length))
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, headers, duplex: 'half' }
  const request = new Request('http://localhost', init)
  const call = { request, bodyQuotaKey: of, bodyBytes: 0 }
  return { call, read: () => readJson(frontDoor, call, limit) }
}

const openFrontDoor = (bytes = 0, held: Record<string, number> = {}) => ({
  inFlight: { count: 1, bytes, bytesOf: new Map(Object.entries(held)) },
})
const BODY = '{"a":1}'
const inChunks = () => new Blob([BODY]).stream()
const unavailable = { code: 'unavailable', headers: { 'Retry-After': '1' } }

describe.each([
  ['declared', () => BODY],
  ['in chunks', inChunks],
])('a body, %s,', (_, body) => {
  it('is held while it is in flight', async () => {
    const frontDoor = openFrontDoor(LIMIT.room - 7, { 'a business': LIMIT.share - 7 })
    const { call, read } = sendTo(frontDoor, body())
    expect(await read()).toEqual({ a: 1 })
    expect([frontDoor.inFlight.bytes, call.bodyBytes]).toEqual([LIMIT.room, 7])
    releaseBodyMemory(frontDoor, call)
    expect(frontDoor).toEqual(openFrontDoor(LIMIT.room - 7, { 'a business': LIMIT.share - 7 }))
  })

  it('that exceeds the room of all bodies is refused', async () => {
    const frontDoor = openFrontDoor(LIMIT.room - 6)
    const { call, read } = sendTo(frontDoor, body())
    await expect(read()).rejects.toMatchObject(unavailable)
    expect([frontDoor.inFlight.bytes, call.bodyBytes]).toEqual([LIMIT.room - 6, 0])
  })

  it('that is more than the share of one caller is refused, and another caller has room', async () => {
    const frontDoor = openFrontDoor(LIMIT.share - 6, { 'a business': LIMIT.share - 6 })
    await expect(sendTo(frontDoor, body()).read()).rejects.toMatchObject(unavailable)
    expect(await sendTo(frontDoor, body(), 'another').read()).toEqual({ a: 1 })
  })
})

it('with a length that is not a number is counted as it comes', async () => {
  const frontDoor = openFrontDoor(LIMIT.room - 7)
  const sent = sendTo(frontDoor, BODY)
  sent.call.request.headers.set('content-length', '7, 7')
  expect(await sent.read()).toEqual({ a: 1 })
  expect(frontDoor.inFlight.bytes).toBe(LIMIT.room)
})

it('leaves nothing behind of a caller that holds nothing any more', async () => {
  const frontDoor = openFrontDoor()
  const { call, read } = sendTo(frontDoor, BODY)
  await read()
  releaseBodyMemory(frontDoor, call)
  expect(frontDoor).toEqual(openFrontDoor())
})

it('keeps room for live events, however many batches are on their way', async () => {
  const { single, batch } = BODY_LIMITS
  const full = openFrontDoor(batch.room)
  await expect(sendTo(full, BODY, 'a business', batch).read()).rejects.toMatchObject({ code: 'unavailable' })
  expect(await sendTo(full, BODY, 'a business', single).read()).toEqual({ a: 1 })
  expect(single.room - batch.room).toBeGreaterThan(100 * single.bytes)
})

it('keeps room for other businesses, and for live events of its own, however many batches one sends', async () => {
  const { single, batch } = BODY_LIMITS
  const busy = openFrontDoor(batch.share, { busy: batch.share })
  await expect(sendTo(busy, BODY, 'busy', batch).read()).rejects.toMatchObject({ code: 'unavailable' })
  expect(await sendTo(busy, BODY, 'busy', single).read()).toEqual({ a: 1 })
  expect(await sendTo(busy, BODY, 'another', batch).read()).toEqual({ a: 1 })
  expect(batch.share).toBeGreaterThanOrEqual(batch.bytes)
  expect(batch.room / batch.share).toBeGreaterThanOrEqual(4)
})

describe('a body that does not come to its end in time', () => {
  const soon = { ...LIMIT, seconds: 0.05 }
  const late = { code: 'malformed_json', headers: { Connection: 'close' } }
  const stalled = (frontDoor: ReturnType<typeof openFrontDoor>, declared: boolean) => {
    const cancelled = Promise.withResolvers<void>()
    const stream = new ReadableStream({
      start: (body) => body.enqueue(new TextEncoder().encode('{"a"')),
      cancel: () => cancelled.resolve(),
    })
    const sent = sendTo(frontDoor, stream, 'a business', soon)
    if (declared) sent.call.request.headers.set('content-length', '100')
    return { ...sent, cancelled: cancelled.promise }
  }

  it.each([true, false])('is refused, and its connection ends (declared: %s)', async (declared) => {
    await expect(stalled(openFrontDoor(), declared).read()).rejects.toMatchObject(late)
  })

  it('is read no further', async () => {
    const frontDoor = openFrontDoor()
    const { call, read, cancelled } = stalled(frontDoor, false)
    await expect(read()).rejects.toMatchObject(late)
    await cancelled
    releaseBodyMemory(frontDoor, call)
    expect(frontDoor).toEqual(openFrontDoor())
  })
})
