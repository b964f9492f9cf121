import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWait } from '../../src/front-door/in-time.ts'
import { type Stack, openStack } from '../support/stack.ts'

const WAIT_MS = 50
const patient = createWait(5000, 'Redis')
const inTime = createWait(WAIT_MS, 'Redis')

let stack: Stack
beforeAll(async () => {
  stack = await openStack()
})
afterAll(() => stack.close())

it('passes on what is answered in time, and what fails', async () => {
  expect(await patient(stack.redis.ping())).toBe('PONG')
  await expect(patient(stack.redis.call('NONSENSE'))).rejects.toThrow('unknown command')
})

it('rejects what is not answered in time, and not before', async () => {
  const started = performance.now()
  await expect(inTime(new Promise(() => {}))).rejects.toThrow(`Redis has not answered within ${WAIT_MS} ms`)
  expect(performance.now() - started).toBeGreaterThanOrEqual(WAIT_MS)
})

it('takes an answer for in time that came while this process was too busy to read it', async () => {
  const another = stack.redis.duplicate()
  // Behind this answer the loop looks at its clock first, and then at its sockets.
  await another.ping()
  const answer = inTime(stack.redis.ping())
  const busyUntil = performance.now() + 20 * WAIT_MS
  while (performance.now() < busyUntil) continue
  expect(await answer).toBe('PONG')
  another.disconnect()
})
