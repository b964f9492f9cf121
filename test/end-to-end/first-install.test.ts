// @long
/** Mistakes of new operators: each message names the store, the variable and the next step. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { killRuns, runCli } from '../support/run-cli.ts'
import { openStack, type Stack } from '../support/stack.ts'
import { startOwnRedis } from '../workers/own-redis.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

const stores = inject('stores')
const empty = `t_${randomBytes(8).toString('hex')}`
let stack: Stack
beforeAll(async () => {
  stack = await openStack({}, { ownClickHouse: true })
  await stack.sql`create database ${stack.sql(empty)}`
})
afterAll(async () => {
  killRuns()
  await stack.sql`drop database ${stack.sql(empty)}`
  await stack.close()
})

const changed = (url: string, parts: Partial<Pick<URL, 'pathname' | 'password' | 'port'>>): string =>
  Object.assign(new URL(url), parts).href
const hostOf = (url: string): string => new URL(url).host

/** Runs a command with the stores of the test, except for these settings. */
async function failing(command: string, settings: Record<string, string>) {
  const { databaseUrl, redisUrl, clickhouseUrl } = stack
  const run = runCli(
    { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, CLICKHOUSE_URL: clickhouseUrl, LOG_LEVEL: 'silent', ...settings },
    command,
  )
  return { code: await run.ended, output: run.output() }
}

const postgres = `Postgres (DATABASE_URL, ${hostOf(stores.databaseUrl)})`
const redis = `Redis (REDIS_URL, ${hostOf(stores.redisUrl)})`
const clickhouse = `ClickHouse (CLICKHOUSE_URL, ${hostOf(stores.clickhouseUrl)})`

describe('gets the next step as advice', () => {
  test.each(['serve', 'workers'])('%s before migrate', async (command) => {
    const { code, output } = await failing(command, { DATABASE_URL: changed(stores.databaseUrl, { pathname: empty }) })
    expect(output).toBe(`${postgres} has no tables of Sluice yet. Run \`npm run migrate\`, then start again.\n`)
    expect(code).toBe(1)
  })

  test.each(['migrate', 'serve', 'workers'])(
    '%s with a missing Postgres database',
    { timeout: PATIENCE_MS },
    async (command) => {
      const { code, output } = await failing(command, {
        DATABASE_URL: changed(stores.databaseUrl, { pathname: 'none' }),
      })
      const remedy = 'Create the database, or correct DATABASE_URL.'
      expect([code, output]).toEqual([
        1,
        `${postgres} rejected the connection: database "none" does not exist. ${remedy}\n`,
      ])
    },
  )

  test('migrate with a missing ClickHouse database', async () => {
    const { code, output } = await failing('migrate', {
      CLICKHOUSE_URL: changed(stores.clickhouseUrl, { pathname: 'sluice_none' }),
    })
    const remedy = 'Create the database, or correct CLICKHOUSE_URL.'
    expect(output).toMatch(/^ClickHouse .* rejected the connection: .*\bsluice_none\b.* does not exist/)
    expect(output.startsWith(`${clickhouse} rejected the connection: `)).toBe(true)
    expect([code, output.endsWith(`. ${remedy}\n`)]).toEqual([1, true])
  })

  test.each(['migrate', 'serve', 'workers'])(
    '%s with a wrong password of Postgres',
    { timeout: PATIENCE_MS },
    async (command) => {
      const { code, output } = await failing(command, {
        DATABASE_URL: changed(stores.databaseUrl, { password: 'wrong' }),
      })
      const said = `password authentication failed for user "${new URL(stores.databaseUrl).username}"`
      const remedy = 'Correct the user and the password in DATABASE_URL.'
      expect([code, output]).toEqual([1, `${postgres} rejected the connection: ${said}. ${remedy}\n`])
    },
  )

  test.each(['serve', 'workers'])('%s with a wrong password of Redis', async (command) => {
    const { code, output } = await failing(command, { REDIS_URL: changed(stores.redisUrl, { password: 'wrong' }) })
    const said = 'WRONGPASS invalid username-password pair or user is disabled'
    const remedy = 'Correct the user and the password in REDIS_URL.'
    expect([code, output]).toEqual([1, `${redis} rejected the connection: ${said}. ${remedy}\n`])
  })

  test('migrate with a wrong password of ClickHouse', async () => {
    const { code, output } = await failing('migrate', {
      CLICKHOUSE_URL: changed(stores.clickhouseUrl, { password: 'wrong' }),
    })
    expect(output.startsWith(`${clickhouse} rejected the connection: sluice: Authentication failed`)).toBe(true)
    expect([code, output.endsWith('. Correct the user and the password in CLICKHOUSE_URL.\n')]).toEqual([1, true])
  })

  test.each([
    ['migrate', 'Postgres', 'DATABASE_URL'],
    ['serve', 'Postgres', 'DATABASE_URL'],
    ['migrate', 'ClickHouse', 'CLICKHOUSE_URL'],
  ])('%s with a wrong port of %s', { timeout: 120_000 }, async (command, name, variable) => {
    const url = variable === 'DATABASE_URL' ? stores.databaseUrl : stores.clickhouseUrl
    const { code, output } = await failing(command, { [variable]: changed(url, { port: '1' }) })
    const remedy = `Start it, or correct ${variable}.`
    expect([code, output]).toEqual([1, `${name} (${variable}, 127.0.0.1:1) does not answer: ECONNREFUSED. ${remedy}\n`])
  })
})

describe('a Redis that can lose what it has acknowledged', () => {
  test.each([
    ['serve', 'appendonly', 'no'],
    ['workers', 'appendonly', 'no'],
    ['serve', 'appendfsync', 'everysec'],
    ['workers', 'appendfsync', 'no'],
  ])('is refused by %s: %s %s', { timeout: 120_000 }, async (command, option, value) => {
    const own = await startOwnRedis([`--${option}`, value])
    const { code, output } = await failing(command, { REDIS_URL: own.url })
    await own.close()
    expect(output).toBe(
      `Redis (REDIS_URL, 127.0.0.1:${own.port}) can lose events that were acknowledged: ${option} is ${value}. ` +
        'Set appendonly yes and appendfsync always in its configuration, or ALLOW_VOLATILE_REDIS=true to accept the loss.\n',
    )
    expect(code).toBe(1)
  })
})

test('the role of the tests is that of the product', async () => {
  const sql = connectPostgres(stores.databaseUrl, { max: 1 })
  expect(await sql`show is_superuser`).toEqual([{ is_superuser: 'off' }])
  await sql.end()
})
