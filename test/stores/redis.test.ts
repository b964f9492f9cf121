/** A connection to a Redis that no longer answers (stores/redis.ts). */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { connectRedis, whenReady } from '../../src/stores/redis.ts'
import { openStack } from '../support/stack.ts'
import { startProxy } from '../workers/own-redis.ts'
import { atLoad } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

/** The role `limiter` has the shortest time limit. */
const SILENT_MS = 1000

const stack = useOpened(openStack)

it('a silent connection is closed with its unanswered commands, and opened again', async () => {
  const proxy = await startProxy(new URL(stack.redisUrl))
  const redis = connectRedis(proxy.url, 'limiter')
  await whenReady(redis)
  await redis.ping()
  proxy.stall()
  // This command is sent later than all others: its own time limit counts.
  await sleep(SILENT_MS / 2)
  const asked = performance.now()
  await expect(redis.ping()).rejects.toBeInstanceOf(Error)
  const took = performance.now() - asked
  expect(took).toBeGreaterThan(SILENT_MS - 50)
  expect(took).toBeLessThan(atLoad(SILENT_MS * 1.5))
  await whenReady(redis)
  expect(await redis.ping()).toBe('PONG')
  redis.disconnect()
  await proxy.close()
})

it('a connection is not taken for silent by a process that was paused and has not read its answers', async () => {
  const redis = connectRedis(stack.redisUrl, 'limiter')
  await whenReady(redis)
  const id = await redis.client('ID')
  const answer = redis.ping()
  const until = performance.now() + SILENT_MS * 1.2
  while (performance.now() < until);
  expect(await answer).toBe('PONG')
  expect(await redis.client('ID')).toBe(id)
  redis.disconnect()
})

it('a connection stays open while no command waits, and while answers come', async () => {
  const redis = connectRedis(stack.redisUrl, 'limiter')
  await whenReady(redis)
  const id = await redis.client('ID')
  await sleep(SILENT_MS * 1.2)
  expect(await redis.client('ID')).toBe(id)
  // A command is always in flight, and answers keep arriving.
  const until = performance.now() + SILENT_MS * 1.5
  let last: Promise<unknown> = redis.ping()
  while (performance.now() < until) {
    const next = redis.ping()
    await last
    last = next
  }
  await last
  expect(await redis.client('ID')).toBe(id)
  redis.disconnect()
})
