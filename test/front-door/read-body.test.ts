import { expect, it } from 'vitest'
import { BODY_LIMITS, type BodyLimit, readJson } from '../../src/front-door/read-body.ts'

const LIMIT: BodyLimit = { bytes: 1000, room: 100_000 }

function send(bytesInFlight: number, declared: boolean, limit = LIMIT) {
  const body = '{"a":1}'
  const headers = { 'content-type': 'application/json', ...(declared && { 'content-length': String(body.length) }) }
  const call = { request: new Request('http://localhost', { method: 'POST', body, headers }), bodyBytes: 0 }
  const door = { inFlight: { count: 1, bytes: bytesInFlight } }
  return { door, call, read: () => readJson(door, call, limit) }
}

it.each([true, false])('holds the bytes of a body while it is in flight (declared: %s)', async (declared) => {
  const { door, call, read } = send(LIMIT.room - 7, declared)
  expect(await read()).toEqual({ a: 1 })
  expect([door.inFlight.bytes, call.bodyBytes]).toEqual([LIMIT.room, 7])
})

it.each([true, false])('refuses a body that is too much for all together (declared: %s)', async (declared) => {
  const { door, call, read } = send(LIMIT.room - 6, declared)
  await expect(read()).rejects.toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '1' } })
  expect([door.inFlight.bytes, call.bodyBytes]).toEqual([LIMIT.room - 6, 0])
})

it('keeps room for live events, however many batches are on their way', async () => {
  const batches = send(BODY_LIMITS.batch.room, true, BODY_LIMITS.batch)
  await expect(batches.read()).rejects.toMatchObject({ code: 'unavailable' })
  const live = send(BODY_LIMITS.batch.room, true, BODY_LIMITS.single)
  expect(await live.read()).toEqual({ a: 1 })
  expect(BODY_LIMITS.single.room - BODY_LIMITS.batch.room).toBeGreaterThan(100 * BODY_LIMITS.single.bytes)
})
