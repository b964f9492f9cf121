/** A Redis that answers but refuses writes: callers get 503, and /readyz names the reason within 2 s. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { type FrontDoor, runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { connectRedis, type Redis } from '../../src/stores/redis.ts'
import { atLoad } from '../support/at-load.ts'
import { createBusiness, openStack, type TestBusiness } from '../support/stack.ts'
import { type OwnRedis, startOwnRedis } from '../workers/own-redis.ts'
import { ASYNC, type Speak, speakTo } from './http-client.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let tenant: TestBusiness
let redis: OwnRedis
let frontDoor: FrontDoor
let speak: Speak
let command: Redis
beforeAll(async () => {
  tenant = await createBusiness(stack.sql)
})
beforeEach(async () => {
  redis = await startOwnRedis(['--enable-protected-configs', 'yes'])
  command = connectRedis(redis.url, 'command')
  frontDoor = await runFrontDoor({ ...stack.config, redisUrl: redis.url })
  speak = speakTo(frontDoor.url)
})
afterEach(async () => {
  await frontDoor.close()
  command.disconnect()
  await redis.close()
})

const track = () =>
  speak('POST', '/api/sdk/track', {
    key: tenant.secretKey,
    json: { event: 'signup', identity: { email: 'ada@example.com' } },
    headers: ASYNC,
  })
const readIssues = async () => {
  const { status, body } = await speak('GET', '/readyz')
  const issues = (body.error as unknown as { issues?: { message: string }[] } | undefined)?.issues ?? []
  return { status, messages: issues.map(({ message }) => message) }
}

const setUp: Record<string, () => Promise<unknown>> = {
  NOREPLICAS: () => command.config('SET', 'min-replicas-to-write', '1'),
  OOM: () => command.config('SET', 'maxmemory', '1'),
  READONLY: () => command.replicaof('127.0.0.1', 9),
  async MISCONF() {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-gone-'))
    await command.config('SET', 'save', '3600 1')
    await command.config('SET', 'dir', folder)
    await rm(folder, { recursive: true })
    await command.bgsave()
    await vi.waitUntil(async () => (await command.info('persistence')).includes('rdb_last_bgsave_status:err'), 10_000)
  },
}

it.each(Object.keys(setUp))('%s', async (word) => {
  expect((await track()).status).toBe(202)
  const before = await readIssues()
  expect(before.messages.filter((message) => message.startsWith('redis: it refuses writes'))).toEqual([])
  await setUp[word]?.()
  await vi.waitFor(
    async () => {
      const { status, messages } = await readIssues()
      expect([status, messages]).toEqual([
        503,
        expect.arrayContaining([expect.stringMatching(new RegExp(`^redis: it refuses writes: ${word} `))]),
      ])
    },
    { timeout: atLoad(2000), interval: 100 },
  )
  const refused = await track()
  expect([refused.status, refused.body.error?.code]).toEqual([503, 'unavailable'])
})
