// @long
/**
 * An asynchronous standby that lacks the last commits is promoted: what was acknowledged is applied again from the
 * streams, once in Postgres and once in ClickHouse. When Redis no longer has it, nothing is applied until admin recover.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createLogger } from '../../src/log.ts'
import { migrate } from '../../src/migrate/migrate.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { readConfig } from '../../src/config.ts'
import { type Kept, readKept } from '../../src/stream/consume/kept.ts'
import { compareIds } from '../../src/stream/stream-id.ts'
import { startService, untilShipped } from '../support/service.ts'
import { type PostgresPair, startPostgresPair } from '../support/postgres-pair.ts'
import { type Stack, type TestBusiness, createBusiness, openStack } from '../support/stack.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

let shared: Stack
let pair: PostgresPair
let stack: Stack
const database = `sluice_failover_${crypto.randomUUID().slice(0, 8)}`
beforeEach(async () => {
  shared = await openStack()
  pair = await startPostgresPair()
  const clickhouseUrl = new URL(shared.clickhouseUrl)
  clickhouseUrl.pathname = database
  const sql = connectPostgres(pair.url)
  const clickhouse = connectClickHouse(clickhouseUrl.href)
  const admin = connectClickHouse(shared.clickhouseUrl, { toPublic: true })
  await admin.command({ query: `create database if not exists ${database}` })
  await admin.close()
  await migrate(sql, clickhouse, createLogger({ level: 'silent', name: 'test' }), 2)
  const urls = { databaseUrl: pair.url, redisUrl: shared.redisUrl, clickhouseUrl: clickhouseUrl.href }
  const config = readConfig({
    PORT: '0',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'silent',
    ANSWER_TIMEOUT_MS: '2000',
    DATABASE_URL: urls.databaseUrl,
    REDIS_URL: urls.redisUrl,
    CLICKHOUSE_URL: urls.clickhouseUrl,
  })
  stack = { ...shared, ...urls, config, sql, clickhouse }
})
afterEach(async () => {
  await stack.sql.end({ timeout: 1 })
  for (const name of Object.values(stack.clickhouse.databases))
    await stack.clickhouse.command({ query: `drop database if exists ${name} sync` })
  await stack.clickhouse.close()
  await pair.close()
  await shared.close()
})

/** Sends an event without a key, and returns the status. 0: the outcome is not known. */
async function send(url: string, { secretKey }: TestBusiness, n: number): Promise<number> {
  const identity = { email: `person-${n % 20}-${Math.floor(n / 100)}@example.com` }
  const answer = await fetch(`${url}/api/sdk/track`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ event: 'numbered', identity, properties: { n } }),
  }).catch(() => undefined)
  await answer?.text()
  return answer?.status ?? 0
}

/** Sends events at a steady rate until it is stopped, and collects their numbers by status. */
function startLoad(url: string, business: TestBusiness) {
  const open: Promise<void>[] = []
  const found = new Map<number, number[]>()
  let stopped = false
  const sending = (async () => {
    for (let n = 0; !stopped; n += 1) {
      open.push(send(url, business, n).then((status) => void found.set(status, [...(found.get(status) ?? []), n])))
      await sleep(20)
    }
  })()
  return {
    found: (status: number) => found.get(status) ?? [],
    async stop() {
      stopped = true
      await sending
      await Promise.all(open)
    },
  }
}

async function countInClickHouse(businessId: string): Promise<Map<number, number>> {
  const result = await stack.clickhouse.query({
    query: `select JSONExtractInt(properties, 'n') as n, count() as count from events
      where business_id = '${businessId}' group by n settings output_format_json_quote_64bit_integers = 0`,
    format: 'JSONEachRow',
  })
  return new Map((await result.json<{ n: number; count: number }>()).map(({ n, count }) => [n, count]))
}

/** Promotes a standby that lacks commits for which `isMissed` is true: Redis has this of a partition, and the standby that. */
async function failOver(isMissed: (kept: Kept, position: string) => boolean): Promise<void> {
  await pair.stopReceiver()
  const standby = connectPostgres(pair.standbyUrl, { max: 1 })
  const lacksSome = async () => {
    const rows = await standby<{ partition: string; position: string; replayed: boolean }[]>`
      select partition, position, pg_last_wal_replay_lsn() >= pg_last_wal_receive_lsn() as replayed from positions`
    const missed = rows.map(
      async (row) => row.replayed && isMissed(await readKept(stack.redis, row.partition), row.position),
    )
    return (await Promise.all(missed)).includes(true)
  }
  await vi.waitUntil(lacksSome, { timeout: PATIENCE_MS, interval: 100 })
  await standby.end()
  await pair.killPrimary()
  await sleep(300)
  await pair.promote()
}

const isAfter = (id: string, position: string) => compareIds(id, position) > 0

it('every acknowledged event is applied once after the promotion of a standby that lacked its commit', async () => {
  const service = await startService(stack, { keep: { ms: 60_000, bytes: 2 ** 26 } })
  const business = await createBusiness(stack.sql)
  const load = startLoad(service.url, business)
  await vi.waitUntil(() => load.found(200).length > 100, { timeout: PATIENCE_MS })
  await failOver(({ applied }, position) => isAfter(applied, position))
  await sleep(4000)
  await load.stop()
  const acknowledged = [...load.found(200), ...load.found(202)]
  const refused = load.found(503)
  await vi.waitFor(
    async () => {
      const counts = await countInClickHouse(business.businessId)
      expect(acknowledged.filter((n) => !counts.has(n))).toEqual([])
    },
    { timeout: PATIENCE_MS, interval: 500 },
  )
  await untilShipped(stack)
  const counts = await countInClickHouse(business.businessId)
  expect([...counts].filter(([, count]) => count !== 1)).toEqual([])
  expect(refused.filter((n) => counts.has(n))).toEqual([])
  const [row] = await stack.sql<[{ count: number; timeline: number }]>`
    select sum(count)::int as count, wal_timeline()::int as timeline from event_statistics
    where business_id = ${business.businessId}`
  expect(row).toEqual({ count: counts.size, timeline: 2 })
  const statistics = await stack.clickhouse.query({
    query: `select sum(count) as count from event_statistics where business_id = '${business.businessId}'`,
    format: 'JSONEachRow',
  })
  expect(Number((await statistics.json<{ count: number }>())[0]?.count)).toBe(counts.size)
  await service.stop()
})

it('nothing is applied when Redis has deleted what Postgres lacks, and /readyz says what to do', async () => {
  const service = await startService(stack)
  const business = await createBusiness(stack.sql)
  const load = startLoad(service.url, business)
  await vi.waitUntil(() => load.found(200).length > 50, { timeout: PATIENCE_MS })
  await failOver(({ trimmed }, position) => isAfter(trimmed, position))
  await sleep(3000)
  await load.stop()
  const readIssues = async () => {
    const answer = (await (await fetch(`${service.url}/readyz`)).json()) as {
      error?: { issues?: { message: string }[] }
    }
    return (answer.error?.issues ?? []).map(({ message }) => message)
  }
  await vi.waitFor(
    async () => expect(await readIssues()).toContain('postgres: it is older than Redis: run admin recover'),
    {
      timeout: PATIENCE_MS,
      interval: 500,
    },
  )
  const positions = () => stack.sql`select partition, position from positions order by partition`
  const before = await positions()
  expect(await send(service.url, business, 100_000)).toBe(202)
  expect(await positions()).toEqual(before)
  await service.stop()
  const kept = await Promise.all(before.map(({ partition }) => readKept(stack.redis, String(partition))))
  expect(kept.some(({ trimmed }, at) => isAfter(trimmed, String(before[at]?.['position'])))).toBe(true)
})
