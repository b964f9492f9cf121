import { expect, it } from 'vitest'
import { MOST_BYTES_IN_FLIGHT, readJson } from '../../src/front-door/read-body.ts'

const LIMIT = 1000

function send(bytesInFlight: number, declared: boolean) {
  const body = '{"a":1}'
  const headers = { 'content-type': 'application/json', ...(declared && { 'content-length': String(body.length) }) }
  const call = { request: new Request('http://localhost', { method: 'POST', body, headers }), bodyBytes: 0 }
  const door = { inFlight: { count: 1, bytes: bytesInFlight } }
  return { door, call, read: () => readJson(door, call, LIMIT) }
}

it.each([true, false])('holds the bytes of a body while it is in flight (declared: %s)', async (declared) => {
  const { door, call, read } = send(MOST_BYTES_IN_FLIGHT - 7, declared)
  expect(await read()).toEqual({ a: 1 })
  expect([door.inFlight.bytes, call.bodyBytes]).toEqual([MOST_BYTES_IN_FLIGHT, 7])
})

it.each([true, false])('refuses a body that is too much for all together (declared: %s)', async (declared) => {
  const { door, call, read } = send(MOST_BYTES_IN_FLIGHT - 6, declared)
  await expect(read()).rejects.toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '1' } })
  expect([door.inFlight.bytes, call.bodyBytes]).toEqual([MOST_BYTES_IN_FLIGHT - 6, 0])
})
