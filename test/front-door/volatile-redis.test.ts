/** A Redis that may lose acknowledged data: what a running front door reports about it. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type FrontDoor, runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { connectRedis } from '../../src/stores/redis.ts'
import { openStack, type Stack } from '../support/stack.ts'
import { type OwnRedis, startOwnRedis } from '../workers/own-redis.ts'
import { speakTo } from './http-client.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

let stack: Stack
let redis: OwnRedis | undefined
let frontDoor: FrontDoor | undefined
beforeEach(async () => {
  stack = await openStack({ ALLOW_VOLATILE_REDIS: 'true' })
})
afterEach(async () => {
  await frontDoor?.close()
  await redis?.close()
  await stack.close()
})

async function open(...options: string[]) {
  redis = await startOwnRedis(options)
  frontDoor = await runFrontDoor({ ...stack.config, redisUrl: redis.url })
  const speak = speakTo(frontDoor.url)
  return {
    redis,
    ready: async () => (await speak('GET', '/readyz')).text,
    metrics: async () => (await speak('GET', '/metrics')).text,
  }
}

const SOON = { timeout: PATIENCE_MS, interval: 50 }

it('runs when that is allowed, and says that it is degraded', async () => {
  const off = 'no'
  const { ready, metrics } = await open('--appendonly', off)
  expect(await ready()).toContain(`redis: it can lose acknowledged data: appendonly is ${off}`)
  expect(await metrics()).toContain('redis_durable 0')
})

it('is seen when it is changed later, and when it is changed back', async () => {
  const { redis, ready, metrics } = await open()
  expect(await ready()).not.toContain('acknowledged')
  expect(await metrics()).toContain('redis_durable 1')
  const own = connectRedis(redis.url, 'command')
  await own.config('SET', 'appendfsync', 'everysec')
  await vi.waitUntil(async () => (await ready()).includes('lose acknowledged data: appendfsync is everysec'), SOON)
  expect(await metrics()).toContain('redis_durable 0')
  await own.config('SET', 'appendfsync', 'always')
  await vi.waitUntil(async () => !(await ready()).includes('acknowledged'), SOON)
  expect(await metrics()).toContain('redis_durable 1')
  own.disconnect()
})

it('that does not show its settings is reported as unknown', async () => {
  const { ready, metrics } = await open('--rename-command', 'CONFIG', '')
  expect(await ready()).toContain(
    'redis: it does not show appendfsync, so it is unknown whether it can lose acknowledged data',
  )
  expect(await metrics()).toContain('redis_durable 0')
})
