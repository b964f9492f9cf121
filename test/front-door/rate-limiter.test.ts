/** The limiter alone, on a real Redis: the answers to callers at the same time. */
import { randomUUID } from 'node:crypto'
import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { type RateLimiter, createRateLimiter } from '../../src/front-door/access/rate-limiter.ts'
import { createLogger } from '../../src/log.ts'
import { createMetrics } from '../../src/metrics.ts'
import { connectRedis, whenReady } from '../../src/stores/redis.ts'
import { openStack } from '../support/stack.ts'
import { startOwnRedis } from '../workers/own-redis.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let limiter: RateLimiter
beforeAll(async () => {
  limiter = openLimiter()
})

const openLimiter = (redis = stack.redis, timeoutMs = 5000) =>
  createRateLimiter(
    { redis, metrics: createMetrics(), log: createLogger({ level: 'silent', name: 'test' }) },
    { timeoutMs },
  )

const take = (bucket: string, limit: number, times: number) =>
  Promise.all(Array.from({ length: times }, async () => limiter.take(bucket, limit)))

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

const spyOnQuestions = (redis = stack.redis) => {
  const asked = vi.spyOn(redis as unknown as { takeUnits(...args: unknown[]): unknown }, 'takeUnits')
  onTestFinished(() => asked.mockRestore())
  return asked
}

it('asks once for all who come while a question of the bucket is under way, in turn', async () => {
  const asked = spyOnQuestions()
  const bucket = randomUUID()
  const first = take(bucket, 3, 1)
  await nextTick()
  const others = take(bucket, 3, 3)
  const taken = (await Promise.all([first, others])).flat()
  expect(taken.map((one) => one?.allowed)).toEqual([true, true, true, false])
  expect(asked.mock.calls.map((args) => args[4])).toEqual([1, 3])
  expect((await limiter.take(bucket, 3))?.allowed).toBe(false)
})

it('asks about all buckets of one tick in one command, a hundred at most', async () => {
  const asked = spyOnQuestions()
  const buckets = Array.from({ length: 101 }, (_, n) => ({ bucket: randomUUID(), limit: 1 + (n % 3) }))
  const taken = await Promise.all(buckets.map(async ({ bucket, limit }) => await take(bucket, limit, 2)))
  expect(asked.mock.calls.map(([count]) => count)).toEqual([100, 1])
  expect(taken.map((both) => both.map((one) => one?.allowed))).toEqual(buckets.map(({ limit }) => [true, limit > 1]))
  expect(taken.map((both) => both.map((one) => one?.remaining))).toEqual(
    buckets.map(({ limit }) => [limit - 1, Math.max(0, limit - 2)]),
  )
})

it('goes on by itself when Redis has lost the script', async () => {
  // Services of the tests beside this one would lose their scripts, too, and refuse events for a moment.
  const own = await startOwnRedis()
  const redis = connectRedis(own.url, 'command')
  onTestFinished(async () => {
    redis.disconnect()
    await own.close()
  })
  const forgetful = openLimiter(redis)
  const bucket = randomUUID()
  await forgetful.take(bucket, 2)
  await redis.script('FLUSH')
  const taken = await Promise.all([forgetful.take(bucket, 2), forgetful.take(bucket, 2)])
  expect(taken.map((one) => one?.allowed)).toEqual([true, false])
})

it('lets all through together that waited for a question which Redis did not answer in time', async () => {
  // Its pause would stop the tests beside this one, too.
  const own = await startOwnRedis()
  const redis = connectRedis(own.url, 'limiter')
  const pausing = connectRedis(own.url, 'command')
  await whenReady(redis)
  const cut = vi.fn<() => void>()
  redis.on('close', cut)
  const impatient = openLimiter(redis, 400)
  const [one, other, late] = [randomUUID(), randomUUID(), randomUUID()]
  await Promise.all([one, other].map(async (bucket) => await impatient.take(bucket, 1)))
  await pausing.client('PAUSE', 1500)
  const asked = spyOnQuestions(redis)
  const first = [one, other].map(async (bucket) => await impatient.take(bucket, 1))
  await sleep(50)
  // One for the same bucket, and one for an unused bucket.
  const more = [one, late].map(async (bucket) => await impatient.take(bucket, 1))
  expect(await Promise.all([...first, ...more])).toEqual([null, null, null, null])
  // The connection was not closed yet, as it is after a second of silence. Buckets with waiting callers are not queried
  // again.
  expect(cut).not.toHaveBeenCalled()
  expect(asked.mock.calls.map(([count]) => count)).toEqual([2, 1])
  await pausing.ping()
  for (const bucket of [one, other])
    await vi.waitFor(async () => expect((await impatient.take(bucket, 1))?.allowed).toBe(false), {
      timeout: PATIENCE_MS,
    })
  redis.disconnect()
  pausing.disconnect()
  await own.close()
})

it('grants the whole limit again in a new window, and takes no refund of the last one there', async () => {
  const bucket = randomUUID()
  const [first] = await take(bucket, 2, 2)
  expect(await limiter.take(bucket, 2)).toMatchObject({ allowed: false, remaining: 0 })
  await stack.redis.pexpire(`sluice:limit:${bucket}`, 30)
  await sleep(40)
  const next = await limiter.take(bucket, 2)
  expect(next).toMatchObject({ allowed: true, remaining: 1, resetSeconds: 60 })
  expect(next?.window).not.toBe(first?.window)
  await limiter.refund(bucket, first?.window ?? '')
  expect(await limiter.take(bucket, 2)).toMatchObject({ allowed: true, remaining: 0 })
})

it('two front doors grant what the limit says together, to the last unit', async () => {
  const frontDoors = [limiter, openLimiter()]
  const bucket = randomUUID()
  const limit = 6000
  let allowed = 0
  for (let round = 0; round < 65; round += 1) {
    const asked = frontDoors.flatMap((frontDoor) =>
      Array.from({ length: 50 }, async () => frontDoor.take(bucket, limit)),
    )
    for (const one of await Promise.all(asked)) if (one?.allowed) allowed += 1
  }
  expect(allowed).toBe(limit)
  expect(await stack.redis.hget(`sluice:limit:${bucket}`, 'used')).toBe(String(limit))
})
