/** A Postgres and a ClickHouse of different installations are refused before any data is mixed. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLogger } from '../../src/log.ts'
import { createMetrics } from '../../src/metrics.ts'
import { migrate } from '../../src/migrate/migrate.ts'
import { type ClickHouseClient, connectClickHouse } from '../../src/stores/clickhouse.ts'
import { connectPostgres, type Sql } from '../../src/stores/postgres.ts'
import { applyWebBatch } from '../../src/web-events/apply-web-batch.ts'
import { runTimeline } from '../../src/timeline/run-timeline.ts'
import { killRuns, runCli } from '../support/run-cli.ts'
import { makeClickHouse, openStack, type Stack } from '../support/stack.ts'
import { captureOf, hitOf, newBusiness, newVisitor, openWebWorker } from '../web-events/web-lab.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

const DIFFERENT =
  /^Postgres and ClickHouse belong to different installations: Postgres to [-\w]{36} \(created 20\S+\), /
const log = createLogger({ level: 'silent', name: 'test' })
let ours: Stack
let others: Stack
beforeAll(async () => {
  ours = await openStack({}, { ownClickHouse: true })
  await migrate(ours.sql, ours.clickhouse, log)
  others = await openStack({}, { ownClickHouse: true })
  await others.sql`update installation set id = gen_random_uuid()`
  await migrate(others.sql, others.clickhouse, log)
})
afterAll(async () => {
  killRuns()
  await Promise.all([ours.close(), others.close()])
})

const ONE_EVENT =
  "insert into events (business_id, contact_id, event_id, event) select generateUUIDv4(), generateUUIDv4(), generateUUIDv4(), 'x'"

async function count(clickhouse: ClickHouseClient, table: string): Promise<number> {
  const query = `select count() as rows from ${table}`
  const [row] = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ rows: string }>()
  return Number(row?.rows)
}

async function idsOf({ sql, clickhouse }: { sql: Sql; clickhouse: ClickHouseClient }): Promise<unknown[]> {
  const inPostgres =
    await sql`select id::text, (extract(epoch from created_at) * 1000)::bigint::text as ms from installation`
  const query = 'select toString(id) as id, toString(created_ms) as ms from installation'
  const inClickHouse = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json()
  return [...inPostgres, ...inClickHouse]
}

/** Calls `work` with a Postgres database without tables. */
async function withEmptyPostgres(work: (sql: Sql, url: string) => Promise<void>): Promise<void> {
  const name = `sluice_t_${randomBytes(8).toString('hex')}`
  await ours.sql`create database ${ours.sql(name)}`
  const { href } = Object.assign(new URL(ours.databaseUrl), { pathname: name })
  const sql = connectPostgres(href, { max: 1 })
  try {
    await work(sql, href)
  } finally {
    await sql.end()
    await ours.sql`drop database ${ours.sql(name)}`
  }
}

async function withEmptyClickHouse(work: (clickhouse: ClickHouseClient, url: string) => Promise<void>): Promise<void> {
  const name = await makeClickHouse()
  const { href } = Object.assign(new URL(ours.clickhouseUrl), { pathname: name })
  const clickhouse = connectClickHouse(href)
  try {
    await work(clickhouse, href)
  } finally {
    for (const database of Object.values(clickhouse.databases))
      await ours.clickhouse.command({ query: `drop database ${database} sync` })
    await clickhouse.close()
  }
}

test('both stores have the id of the installation, and keep it when they are migrated again', async () => {
  const before = await idsOf(ours)
  expect(before).toEqual([before[0], before[0]])
  expect(await migrate(ours.sql, ours.clickhouse, log)).toBe(0)
  expect(await idsOf(ours)).toEqual(before)
})

test('an empty Postgres beside a ClickHouse with data is refused again and again, and nothing changes', async () => {
  await withEmptyClickHouse(async (clickhouse, clickhouseUrl) => {
    await clickhouse.command({ query: ONE_EVENT })
    await withEmptyPostgres(async (sql, databaseUrl) => {
      for (let tries = 0; tries < 2; tries += 1) {
        await expect(migrate(sql, clickhouse, log)).rejects.toThrow(
          /^Postgres is empty, but the database \w+_internal /,
        )
        expect(await sql`select tablename from pg_tables where schemaname = 'public'`).toEqual([])
      }
      expect([await count(clickhouse, 'events'), await count(clickhouse, 'installation')]).toEqual([1, 0])
      const urls = { DATABASE_URL: databaseUrl, REDIS_URL: ours.redisUrl, CLICKHOUSE_URL: clickhouseUrl }
      const run = runCli({ ...urls, LOG_LEVEL: 'silent' }, 'migrate')
      expect(await run.ended).toBe(1)
      expect(run.output()).toMatch(/^Postgres is empty, but .* Nothing was changed\. Restore the Postgres .*\n$/)
    })
  })
})

test('an empty Postgres and an empty ClickHouse get one id, also when the first migration was cut short', async () => {
  await withEmptyClickHouse(async (clickhouse) => {
    await withEmptyPostgres(async (sql) => {
      const failing = new Proxy(clickhouse, {
        get(client, name): unknown {
          return name === 'command' ? () => Promise.reject(new Error('gone')) : Reflect.get(client, name)
        },
      })
      await expect(migrate(sql, failing, log)).rejects.toThrow('gone')
      expect(await count(clickhouse, 'installation')).toBe(0)
      await migrate(sql, clickhouse, log)
      const ids = await idsOf({ sql, clickhouse })
      expect(ids).toEqual([ids[0], ids[0]])
    })
  })
})

test('a lost ClickHouse, empty or restored from before it had an id, gets that of Postgres', async () => {
  await withEmptyClickHouse(async (clickhouse) => {
    await clickhouse.command({ query: ONE_EVENT })
    expect(await migrate(ours.sql, clickhouse, log)).toBe(0)
    expect(await idsOf({ sql: ours.sql, clickhouse })).toEqual(await idsOf(ours))
  })
})

test.each(['Postgres', 'ClickHouse'])('another %s is refused, and the right one accepted again', async (wrong) => {
  const [sql, url] = wrong === 'Postgres' ? [others.sql, ours.clickhouseUrl] : [ours.sql, others.clickhouseUrl]
  const clickhouse = connectClickHouse(url)
  const before = [await idsOf(ours), await idsOf(others)]
  await expect(migrate(sql, clickhouse, log)).rejects.toThrow(DIFFERENT)
  await clickhouse.close()
  expect([await idsOf(ours), await idsOf(others)]).toEqual(before)
  expect(await migrate(ours.sql, ours.clickhouse, log)).toBe(0)
  expect(await migrate(others.sql, others.clickhouse, log)).toBe(0)
})

test('workers insert nothing into the ClickHouse of another installation, and say why', async () => {
  const clickhouse = connectClickHouse(others.clickhouseUrl)
  const stopping = new AbortController()
  let trouble: string | undefined
  const onTrouble = (text: string | undefined) => (trouble = text)
  const shipping = runTimeline({ sql: ours.sql, clickhouse, log, config: ours.config, onTrouble }, stopping.signal)
  await expect.poll(() => trouble, { timeout: PATIENCE_MS }).toContain('belong to different installations')
  stopping.abort()
  await shipping

  const metrics = createMetrics()
  const deps = { sql: ours.sql, clickhouse, log, metrics }
  const { partition, batchOf } = await openWebWorker(deps)
  const batch = batchOf(captureOf(newBusiness(), newVisitor(), [hitOf()]))
  expect(await applyWebBatch(deps, batch, AbortSignal.timeout(1000), () => undefined)).toEqual({ kind: 'stopped' })
  expect((await metrics.webFailures.get()).values[0]?.value).toBeGreaterThan(0)
  const [row] = await ours.sql`select position, pending from positions where partition = ${partition}`
  expect(row).toEqual({ position: '0-0', pending: null })
  expect(await count(clickhouse, 'web_events')).toBe(0)
  await clickhouse.close()
})
