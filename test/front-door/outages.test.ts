// @long
/**
 * What callers see while a store is down, or when there are too many requests at once (decisions, "Answering from a
 * stream").
 */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type FrontDoor, runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { connectRedis, whenReady } from '../../src/stores/redis.ts'
import { streamKey } from '../../src/stream/keys.ts'
import { createBusiness, openStack, type Stack, type TestBusiness } from '../support/stack.ts'
import { type OwnRedis, startOwnRedis, startProxy } from '../workers/own-redis.ts'
import { type Answer, ASYNC, type Speak, speakTo } from './http-client.ts'
import { PATIENCE_MS, atLoad } from '../support/at-load.ts'

let stack: Stack
let redis: OwnRedis
let frontDoor: FrontDoor
let speak: Speak
let tenant: TestBusiness
beforeEach(async () => {
  stack = await openStack({ ANSWER_TIMEOUT_MS: '1000', RATE_LIMIT_TIMEOUT_MS: '50' })
  redis = await startOwnRedis()
  frontDoor = await runFrontDoor({ ...stack.config, redisUrl: redis.url })
  speak = speakTo(frontDoor.url)
  tenant = await createBusiness(stack.sql)
})
afterEach(async () => {
  await frontDoor.close()
  await redis.close()
  await stack.close()
})

const SOON = { timeout: PATIENCE_MS, interval: 50 }
const EVENT = { event: 'signup', identity: { email: 'ada@example.com' } }
const code = ({ status, body }: Answer) => [status, body.error?.code]
const track = (headers: Record<string, string> = ASYNC) =>
  speak('POST', '/api/sdk/track', { key: tenant.secretKey, json: EVENT, headers })
const readFields = () => speak('GET', '/api/custom-fields', { key: tenant.secretKey })

async function timed(asked: () => Promise<Answer>): Promise<{ answer: Answer; ms: number }> {
  const started = performance.now()
  const answer = await asked()
  return { answer, ms: performance.now() - started }
}

describe('without Redis, or its disk', () => {
  it('refuses at once to record, and still answers reads, without a rate limit', async () => {
    expect((await track()).status).toBe(202)
    await redis.kill()
    await sleep(50)
    const { answer, ms } = await timed(track)
    expect(code(answer)).toEqual([503, 'unavailable'])
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(answer.headers.has('ratelimit')).toBe(false)
    expect(ms).toBeLessThan(atLoad(1500))
    const read = await readFields()
    expect([read.status, read.headers.has('ratelimit')]).toEqual([200, false])
    const ready = await speak('GET', '/readyz')
    expect(ready.body.message).toContain('redis: not reachable')
    expect(ready.headers.get('retry-after')).toBe('1')
    const { text } = await speak('GET', '/metrics')
    expect(text).toMatch(/^rate_limiter_errors_total [1-9]/m)
    expect(text).toContain('store_up{store="redis"} 0')
    expect(text).toContain('store_up{store="postgres"} 1')
    expect(code(await speak('POST', '/api/sdk/track', { key: 'sk_live_bad', json: EVENT }))).toEqual([
      401,
      'invalid_api_key',
    ])
  })

  it('says what Redis cannot write, while it cannot', async () => {
    const own = connectRedis(redis.url, 'command')
    const [, folder = ''] = await own.config('GET', 'dir')
    // A directory at the path of the file that the rewrite would create.
    const inTheWay = join(folder, 'appendonlydir', 'appendonly.aof.2.base.rdb')
    await mkdir(join(inTheWay, 'full'), { recursive: true })
    const said = async () => {
      await own.bgrewriteaof().catch(() => undefined)
      return [(await speak('GET', '/readyz')).body.message, (await speak('GET', '/metrics')).text].join()
    }
    await vi.waitUntil(async () => (await said()).includes('redis: its append-only file could not be rewritten'), SOON)
    expect(await said()).toContain('redis_persistence_ok{part="aof_rewrite"} 0')
    await rm(inTheWay, { recursive: true })
    await vi.waitUntil(async () => (await said()).includes('redis_persistence_ok{part="aof_rewrite"} 1'), SOON)
    // /readyz repeats its answer for a second.
    await vi.waitUntil(async () => !(await said()).includes('redis:'), SOON)
    own.disconnect()
  })

  it('opens without Redis too, and records once Redis is there', async () => {
    await redis.kill()
    const late = await runFrontDoor({ ...stack.config, redisUrl: redis.url })
    const ask = speakTo(late.url)
    const said = { key: tenant.secretKey, json: EVENT, headers: ASYNC }
    expect(code(await ask('POST', '/api/sdk/track', said))).toEqual([503, 'unavailable'])
    await redis.start()
    const deadline = Date.now() + 5000
    while ((await ask('POST', '/api/sdk/track', said)).status !== 202 && Date.now() < deadline) await sleep(50)
    const answer = await ask('POST', '/api/sdk/track', said)
    expect([answer.status, answer.headers.has('ratelimit')]).toEqual([202, true])
    await late.close()
  })
})

it('measures how long the oldest caller waits, also when the clock of Redis was set back', async () => {
  const own = connectRedis(redis.url, 'command')
  for (const { partition } of await stack.sql<{ partition: string }[]>`select partition from positions`) {
    await own.xadd(streamKey(partition), `${Date.now() + 3_600_000}-0`, 'w', '{}')
    await own.xtrim(streamKey(partition), 'MAXLEN', 0)
  }
  own.disconnect()
  await track()
  const ages = async () =>
    [...(await speak('GET', '/metrics')).text.matchAll(/^stream_backlog_age_seconds\{.*\} (.*)$/gm)].map(([, age]) =>
      Number(age),
    )
  await vi.waitUntil(async () => Math.max(...(await ages())) > 0, SOON)
  expect(Math.max(...(await ages()))).toBeLessThan(60)
})

it('lets requests through within moments while the limiter hangs', async () => {
  await readFields()
  const pausing = connectRedis(redis.url, 'command')
  await whenReady(pausing)
  await pausing.client('PAUSE', 2000, 'ALL')
  const { answer, ms } = await timed(readFields)
  pausing.disconnect()
  expect([answer.status, answer.headers.has('ratelimit')]).toEqual([200, false])
  // A silent connection is closed after a second. The request did not wait for that.
  expect(ms).toBeLessThan(atLoad(900))
})

it('never reports a key as invalid while Postgres is away', async () => {
  const proxy = await startProxy(new URL(stack.databaseUrl))
  const apart = await runFrontDoor({ ...stack.config, databaseUrl: proxy.url })
  const ask = speakTo(apart.url)
  const said = { key: tenant.secretKey }
  expect((await ask('GET', '/api/campaigns', said)).status).toBe(200)
  await proxy.close()
  const known = await ask('GET', '/api/campaigns', said)
  expect(code(known)).toEqual([503, 'unavailable'])
  const json = { name: 'n', trigger: { event: 'e' } }
  const doubtful = await ask('POST', '/api/campaigns', { ...said, json })
  expect(code(doubtful)).toEqual([503, 'outcome_unknown'])
  expect(doubtful.headers.get('retry-after')).toBe('1')
  expect(doubtful.body.message).toContain('Read again what it changes before you repeat it.')
  await sleep(800)
  const answer = await ask('GET', '/api/campaigns', said)
  expect(code(answer)).toEqual([503, 'unavailable'])
  expect(answer.headers.get('retry-after')).toBe('1')
  await apart.close()
})

it('reports only Postgres as hanging', async () => {
  const { text } = await stack.sql.begin(async (tx) => {
    await tx`lock table positions, dead_letters in access exclusive mode`
    return await speak('GET', '/metrics')
  })
  expect(text).toContain('store_up{store="postgres"} 0')
  expect(text).toContain('store_up{store="redis"} 1')
})

it('takes events while reads of others wait for a slow Postgres', async () => {
  const { reads, answer, ms } = await stack.sql.begin(async (tx) => {
    await tx`lock table custom_fields in access exclusive mode`
    const reads = Array.from({ length: 10 }, readFields)
    await sleep(900)
    // By now, the front door has to read the key again.
    return { reads, ...(await timed(track)) }
  })
  expect([answer.status, ms < 500]).toEqual([202, true])
  expect(new Set((await Promise.all(reads)).map((read) => read.status))).toEqual(new Set([200]))
})

it('refuses at once what is more than it may hold', async () => {
  const narrow = await runFrontDoor({ ...stack.config, maxInFlight: 3 })
  const ask = speakTo(narrow.url)
  const waiting = [1, 2, 3].map(() => ask('POST', '/api/sdk/track', { key: tenant.secretKey, json: EVENT }))
  await sleep(100)
  const { answer, ms } = await timed(() => ask('POST', '/api/sdk/track', { key: tenant.secretKey, json: EVENT }))
  expect(code(answer)).toEqual([503, 'unavailable'])
  expect(answer.headers.get('retry-after')).toBe('1')
  expect(ms).toBeLessThan(atLoad(1000))
  const page = await ask('POST', '/api/sdk/identify', { json: EVENT, headers: { origin: 'https://shop.example' } })
  expect([...code(page), page.headers.get('access-control-allow-origin')]).toEqual([503, 'unavailable', '*'])
  expect((await ask('GET', '/healthz')).status).toBe(200)
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([202, 202, 202])
  await narrow.close()
})

it('answers what is under way before it closes, and waits for no idle connection', async () => {
  const closing = await runFrontDoor(stack.config)
  const quiet = await runFrontDoor(stack.config)
  const asked = speakTo(closing.url)('POST', '/api/sdk/track', { key: tenant.secretKey, json: EVENT })
  await sleep(100)
  const [answer] = await Promise.all([asked, closing.close()])
  expect(answer.status).toBe(202)
  await speakTo(quiet.url)('GET', '/healthz')
  const started = performance.now()
  await quiet.close()
  expect(performance.now() - started).toBeLessThan(atLoad(1000))
  await expect(fetch(`${closing.url}/healthz`)).rejects.toBeInstanceOf(Error)
})
