/** The limiter by itself, on a real Redis: what its callers of one event-loop tick get together. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Limiter, createLimiter } from '../../src/front-door/limit-rate.ts'
import { createLogger } from '../../src/log.ts'
import { createMetrics } from '../../src/metrics.ts'
import { type Stack, openStack } from '../support/stack.ts'

let stack: Stack
let limiter: Limiter
beforeAll(async () => {
  stack = await openStack()
  limiter = createLimiter({
    redis: stack.redis,
    metrics: createMetrics(),
    log: createLogger({ level: 'silent', name: 'test' }),
  })
})
afterAll(() => stack.close())

const take = (bucket: string, limit: number, times: number) =>
  Promise.all(Array.from({ length: times }, () => limiter.take(bucket, limit)))

it('grants callers of one tick exactly what is left, to the first in turn', async () => {
  const bucket = randomUUID()
  const taken = await take(bucket, 5, 7)
  expect(taken.map((one) => one?.allowed)).toEqual([true, true, true, true, true, false, false])
  expect(taken.map((one) => one?.remaining)).toEqual([4, 3, 2, 1, 0, 0, 0])
  expect(new Set(taken.map((one) => one?.window)).size).toBe(1)
  expect((await limiter.take(bucket, 5))?.allowed).toBe(false)
})

it('keeps buckets apart', async () => {
  const [a, b] = [randomUUID(), randomUUID()]
  const [first, second] = await Promise.all([take(a, 1, 2), take(b, 2, 2)])
  expect(first.map((one) => one?.allowed)).toEqual([true, false])
  expect(second.map((one) => one?.allowed)).toEqual([true, true])
})

it('a refund is one unit for the next, and never more than were taken', async () => {
  const bucket = randomUUID()
  const [unit] = await take(bucket, 2, 2)
  await limiter.refund(bucket, unit?.window ?? '')
  expect((await take(bucket, 2, 2)).map((one) => one?.allowed)).toEqual([true, false])
})

it('a lowered limit refuses, whatever was granted before', async () => {
  const bucket = randomUUID()
  await take(bucket, 5, 3)
  expect(await limiter.take(bucket, 2)).toMatchObject({ allowed: false, remaining: 0 })
})
