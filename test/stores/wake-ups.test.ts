/** Loops are woken when work becomes due, but do not depend on it (stores/wake-ups.ts). */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createLogger } from '../../src/log.ts'
import { type Redis, connectRedis } from '../../src/stores/redis.ts'
import { type WakeUps, listenForWakeUps, wake } from '../../src/stores/wake-ups.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const log = createLogger({ level: 'silent', name: 'test' })
const never = new AbortController().signal
/** Longer than any test takes. */
const LONG_MS = 3_600_000

const stack = useOpened(openStack)
let redis: Redis
let listener: Redis
let wakeUps: WakeUps
beforeEach(async () => {
  redis = connectRedis(stack.redisUrl, 'command')
  listener = connectRedis(stack.redisUrl, 'subscribe')
  wakeUps = listenForWakeUps(listener, 'campaigns', log)
  await vi.waitUntil(async () => (await listeners('campaigns')) > 0, { timeout: PATIENCE_MS })
})
afterEach(() => {
  wakeUps.close()
  listener.disconnect()
  redis.disconnect()
})

const listeners = async (sender: string): Promise<number> =>
  Number((await redis.pubsub('NUMSUB', `sluice:wake-ups:${sender}`))[1])

it('wakes a loop that sleeps', async () => {
  const sleeping = wakeUps.sleep(LONG_MS, never)
  await wake(redis, 'campaigns')
  await sleeping
})

it('wakes all sleepers, and only those of its loop', async () => {
  const others = listenForWakeUps(listener, 'deliveries', log)
  await vi.waitUntil(async () => (await listeners('deliveries')) > 0, { timeout: PATIENCE_MS })
  let isOtherAwake = false
  void others.sleep(LONG_MS, never).then(() => (isOtherAwake = true))
  const sleeping = [wakeUps.sleep(LONG_MS, never), wakeUps.sleep(LONG_MS, never)]
  await wake(redis, 'campaigns')
  await Promise.all(sleeping)
  expect(isOtherAwake).toBe(false)
  others.close()
})

it('does not let a loop sleep that was woken while it looked, and does once it has looked again', async () => {
  wakeUps.clear()
  const seen = new Promise((resolve) => listener.once('message', resolve))
  await wake(redis, 'campaigns')
  await seen
  await wakeUps.sleep(LONG_MS, never)
  await wakeUps.sleep(LONG_MS, never)
  wakeUps.clear()
  let isAwake = false
  void wakeUps.sleep(LONG_MS, never).then(() => (isAwake = true))
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(isAwake).toBe(false)
})

it('wakes a loop once for many saves at a time', async () => {
  const began = performance.now()
  let isSaving = true
  const saves = (async () => {
    let count = 0
    for (; performance.now() < began + 500; count += 1) await wake(redis, 'campaigns')
    isSaving = false
    return count
  })()
  let woken = 0
  for (; isSaving; wakeUps.clear()) {
    await wakeUps.sleep(300, never)
    woken += 1
  }
  // One in 100 ms at most.
  expect(woken).toBeLessThanOrEqual((performance.now() - began) / 100 + 2)
  expect(await saves).toBeGreaterThan(woken)
})

it('lets a loop sleep no longer than it wants, whatever becomes of Redis, and not at all once it ends', async () => {
  listener.disconnect()
  await wakeUps.sleep(10, never)
  const ending = new AbortController()
  const sleeping = wakeUps.sleep(LONG_MS, ending.signal)
  ending.abort()
  await sleeping
  await wakeUps.sleep(LONG_MS, ending.signal)
})
