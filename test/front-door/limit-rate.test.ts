/** The limiter by itself, on a real Redis: what callers that ask together get. */
import { randomUUID } from 'node:crypto'
import { setImmediate as nextTick } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Limiter, createLimiter } from '../../src/front-door/limit-rate.ts'
import { createLogger } from '../../src/log.ts'
import { createMetrics } from '../../src/metrics.ts'
import { connectRedis, whenReady } from '../../src/stores/redis.ts'
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

it('asks once for all who come while a question of the bucket is under way, in turn', async () => {
  const asked = vi.spyOn(stack.redis as unknown as { takeUnits(...args: unknown[]): unknown }, 'takeUnits')
  const bucket = randomUUID()
  const first = take(bucket, 3, 1)
  await nextTick()
  const others = take(bucket, 3, 3)
  const taken = (await Promise.all([first, others])).flat()
  expect(taken.map((one) => one?.allowed)).toEqual([true, true, true, false])
  expect(asked.mock.calls.map((args) => args.at(-1))).toEqual([1, 3])
  asked.mockRestore()
  expect((await limiter.take(bucket, 3))?.allowed).toBe(false)
})

it('lets all through together that waited for a question which Redis did not answer in time', async () => {
  const redis = connectRedis(stack.redisUrl, 'limiter', undefined, { commandTimeout: 200 })
  await whenReady(redis)
  const impatient = createLimiter({
    redis,
    metrics: createMetrics(),
    log: createLogger({ level: 'silent', name: 'test' }),
  })
  const bucket = randomUUID()
  await impatient.take(bucket, 1)
  await stack.redis.client('PAUSE', 700)
  const started = performance.now()
  const first = impatient.take(bucket, 1)
  await nextTick()
  expect(await Promise.all([first, impatient.take(bucket, 1)])).toEqual([null, null])
  expect(performance.now() - started).toBeLessThan(390)
  await stack.redis.ping()
  expect((await impatient.take(bucket, 1))?.allowed).toBe(false)
  redis.disconnect()
})
