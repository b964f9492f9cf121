// @long
/** A store that answers, but too late: real stores behind a proxy that holds their answers back. */
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { watchStores } from '../../src/front-door/health/watch-stores.ts'
import { type FrontDoor, runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { createLogger } from '../../src/log.ts'
import { STORES } from '../../src/rules/lateness.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { connectRedis } from '../../src/stores/redis.ts'
import { type CuttingProxy, openCuttingProxy } from '../faults/cutting-proxy.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { type Speak, speakTo } from './http-client.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)

it.each(STORES)(
  'the watch notices that %s answers too late, that it does no longer, and that it is away',
  async (store) => {
    const url = { redis: stack.redisUrl, postgres: stack.databaseUrl, clickhouse: stack.clickhouseUrl }
    const proxy = await openCuttingProxy(url[store])
    url[store] = proxy.url
    const quick = connectPostgres(url.postgres, { max: 1 })
    const redis = connectRedis(url.redis, 'command')
    const clickhouse = connectClickHouse(url.clickhouse)
    const log = createLogger({ level: 'silent', name: 'test' })
    const watch = watchStores({ quick, redis, clickhouse, log }, { everyMs: 30, now: () => 5 })
    try {
      proxy.delay(700)
      await expect.poll(watch.late).toEqual([store])
      expect(watch.lateSince(store)).toBe(5)
      proxy.delay(0)
      await expect.poll(watch.late).toEqual([])
      proxy.delay(700)
      await expect.poll(watch.late).toEqual([store])
      proxy.cut('refuse')
      await expect.poll(watch.late).toEqual([])
    } finally {
      watch.close()
      redis.disconnect()
      await Promise.all([quick.end({ timeout: 1 }), clickhouse.close()])
      await proxy.close()
    }
  },
)

it('a single answer that is late for many looks does not make a store late', async () => {
  const proxy = await openCuttingProxy(stack.redisUrl)
  const quick = connectPostgres(stack.databaseUrl, { max: 1 })
  const redis = connectRedis(proxy.url, 'command')
  const clickhouse = connectClickHouse(stack.clickhouseUrl)
  await redis.ping()
  proxy.delay(2_000)
  const watch = watchStores(
    { quick, redis, clickhouse, log: createLogger({ level: 'silent', name: 'test' }) },
    { everyMs: 100 },
  )
  try {
    // Some fifteen looks at the first answer, which is late since 250 ms.
    await setTimeout(1_500)
    expect(watch.late()).not.toContain('redis')
    await expect.poll(watch.late, { timeout: PATIENCE_MS }).toContain('redis')
  } finally {
    watch.close()
    redis.disconnect()
    await Promise.all([quick.end({ timeout: 1 }), clickhouse.close()])
    await proxy.close()
  }
})

describe('while ClickHouse answers too late', () => {
  let proxy: CuttingProxy
  let frontDoor: FrontDoor
  let speak: Speak
  let key: string
  beforeAll(async () => {
    proxy = await openCuttingProxy(stack.clickhouseUrl)
    // The server must not close the connection of a chart that takes longer than other answers may.
    frontDoor = await runFrontDoor({ ...stack.config, clickhouseUrl: proxy.url, answerTimeoutMs: 1000 })
    speak = speakTo(frontDoor.url)
    key = (await createBusiness(stack.sql)).secretKey
  })
  afterAll(async () => {
    await frontDoor.close()
    await proxy.close()
  })

  const reasons = async (): Promise<string[]> => {
    const { body } = await speak('GET', '/readyz')
    return (body.error?.issues ?? []).map(({ message }: { message: string }) => message)
  }
  const askForChart = () => speak('GET', '/api/analytics/series?event=e', { key })

  it('readiness and metrics say so, and charts do not advise to read less', { timeout: 120_000 }, async () => {
    expect((await reasons()).join()).not.toContain('clickhouse')
    expect((await speak('GET', '/metrics')).text).toMatch(/^store_late_seconds\{store="clickhouse"\} 0$/m)
    proxy.delay(16_000)
    const before = await askForChart()
    expect([before.status, before.headers.get('retry-after')]).toEqual([503, '60'])
    expect(before.text).toContain('ClickHouse answers too late')
    proxy.delay(700)
    await expect
      .poll(async () => (await reasons()).join())
      .toMatch(/clickhouse: it answers too late since \d{4}-.*Z; charts and previews may fail/)
    expect((await speak('GET', '/metrics')).text).toMatch(/^store_late_seconds\{store="clickhouse"\} [1-9]/m)
    // Late, but not too late for this chart.
    expect((await askForChart()).status).toBe(200)
    proxy.delay(0)
    await expect.poll(async () => (await reasons()).join()).not.toContain('clickhouse')
  })
})
