/**
 * The stores of a test file, on real engines: a separate Postgres database, a separate Redis database, and ClickHouse's
 * tables, which all files share unless they request their own. `business_id` is the first key column of every table, so
 * a new business finds no data of others.
 */
import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { type BusinessSettings, insertBusiness } from '../../src/businesses/businesses.ts'
import { insertKey } from '../../src/businesses/keys.ts'
import { type Config, readConfig } from '../../src/config.ts'
import type { StoreUrls } from '../../src/stores/data-dir.ts'
import { repeatClickHouse } from '../../src/migrate/migrate.ts'
import { type ClickHouseClient, connectClickHouse } from '../../src/stores/clickhouse.ts'
import { connectPostgres, type Sql } from '../../src/stores/postgres.ts'
import { connectRedis, type Redis } from '../../src/stores/redis.ts'
import { KEEPS_WEB_EVENTS, keepWebEvents } from './keep-web-events.ts'
import { STACK_PREFIX, TEMPLATE } from './run-engines.ts'

export interface Stack extends StoreUrls {
  /** Settings for these stores, with any free port. */
  config: Config
  sql: Sql
  /** A connection with the role `command`. */
  redis: Redis
  clickhouse: ClickHouseClient
  close(): Promise<void>
}

/** Databases are numbered from 0 to 511; 0 contains what the workers of a run share. */
const REDIS_DATABASES = 511

export interface StackOptions {
  /** For tests that damage or empty tables, change views, or read data of other businesses. */
  ownClickHouse?: boolean
}

/** `environment`: additional variables for the config. */
export async function openStack(
  environment: Record<string, string> = {},
  { ownClickHouse = false }: StackOptions = {},
): Promise<Stack> {
  const stores = inject('stores')
  const name = `${STACK_PREFIX}${randomBytes(8).toString('hex')}`
  const admin = connectAdmin()
  // Copying files costs a third of logging every page.
  await admin`create database ${admin(name)} template ${admin(TEMPLATE)} strategy file_copy`
  const tables = ownClickHouse ? await takeClickHouse() : undefined
  const urls = {
    databaseUrl: withPath(stores.databaseUrl, name),
    redisUrl: withPath(stores.redisUrl, await takeRedisDatabase(stores.redisUrl)),
    clickhouseUrl: tables === undefined ? stores.clickhouseUrl : withPath(stores.clickhouseUrl, tables),
  }
  const sql = connectPostgres(urls.databaseUrl)
  const clickhouse = connectClickHouse(urls.clickhouseUrl)
  const redis = connectRedis(urls.redisUrl, 'command')
  await redis.flushdb()
  const close = async () => {
    await redis.flushdb()
    redis.disconnect()
    await Promise.all([sql.end({ timeout: 1 }), clickhouse.close()])
    // Not `with (force)`, which fails while an autovacuum worker is connected, because its role is a superuser. A plain
    // drop stops it.
    await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name} and usename = current_user`
    await admin`drop database ${admin(name)}`
    if (tables !== undefined) await ask(stores.redisUrl, (shared) => shared.lpush(IDLE, tables))
  }
  return { ...urls, config: configOf(urls, environment), sql, redis, clickhouse, close }
}

/** One connection for all stacks of this worker, because connecting takes about as long as copying the template. */
let adminConnection: Sql | undefined
const connectAdmin = (): Sql => (adminConnection ??= connectPostgres(inject('stores').databaseUrl, { max: 1 }))

/** Names of ClickHouse databases that no stack uses, for all workers of the run. A new one takes about fifty statements. */
const IDLE = 'idle ClickHouse databases'
/** Definition of a new ClickHouse database, without its name. */
const AS_MADE = 'a ClickHouse database as made'

/** Returns a database without rows: an unchanged used one, or a new one. */
async function takeClickHouse(): Promise<string> {
  const { clickhouseUrl, redisUrl } = inject('stores')
  const asMade = await ask(redisUrl, (redis) => redis.get(AS_MADE))
  const takeIdle = () => ask(redisUrl, (redis) => redis.lpop(IDLE))
  for (let name = await takeIdle(); name !== null; name = await takeIdle()) {
    const clickhouse = connectClickHouse(withPath(clickhouseUrl, name))
    const { databases } = clickhouse
    const isAsMade = (await describeTables(clickhouse)) === asMade
    // Tables with the engine Null, which only check rows, cannot be truncated.
    if (isAsMade)
      await clickhouse.command({ query: `truncate all tables from ${databases.internal} not like '%_check'` })
    await clickhouse.close()
    if (isAsMade) return name
    await dropClickHouse(clickhouseUrl, databases)
  }
  const name = await makeClickHouse()
  const clickhouse = connectClickHouse(withPath(clickhouseUrl, name))
  const described = await describeTables(clickhouse)
  await clickhouse.close()
  await ask(redisUrl, (redis) => redis.set(AS_MADE, described))
  return name
}

async function describeTables(clickhouse: ClickHouseClient): Promise<string> {
  const { public: shown, internal } = clickhouse.databases
  const query = `select database, name, create_table_query from system.tables
    where database in ('${shown}', '${internal}') order by all`
  const result = await clickhouse.query({ query, format: 'TabSeparated' })
  return (await result.text()).replaceAll(shown, '')
}

/** Creates a database with the tables and views of the files. The Postgres template already records these files. */
export async function makeClickHouse(): Promise<string> {
  const { clickhouseUrl } = inject('stores')
  const name = `${STACK_PREFIX}${randomBytes(8).toString('hex')}`
  const admin = connectClickHouse(clickhouseUrl, { toPublic: true })
  await admin.command({ query: `create database ${name}` })
  await admin.close()
  const clickhouse = connectClickHouse(withPath(clickhouseUrl, name))
  await repeatClickHouse(clickhouse)
  // Sets the retention like the first stack's workers would, so that the database is unchanged when they have ended.
  await keepWebEvents(clickhouse)
  await clickhouse.close()
  return name
}

async function dropClickHouse(url: string, databases: ClickHouseClient['databases']): Promise<void> {
  const admin = connectClickHouse(url, { toPublic: true })
  for (const database of Object.values(databases))
    await admin.command({ query: `drop database if exists ${database} sync` })
  await admin.close()
}

function configOf(urls: StoreUrls, environment: Record<string, string>): Config {
  return readConfig({
    PORT: '0',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'silent',
    // Prevents a busy machine from accepting requests uncounted when a test counts them.
    RATE_LIMIT_TIMEOUT_MS: '5000',
    DRAIN_MS: '0',
    // Prevents a busy machine from responding with 202 when a test expects a worker's answer.
    ANSWER_TIMEOUT_MS: '60000',
    DATABASE_URL: urls.databaseUrl,
    REDIS_URL: urls.redisUrl,
    CLICKHOUSE_URL: urls.clickhouseUrl,
    ...KEEPS_WEB_EVENTS,
    ...environment,
  })
}

function withPath(url: string, path: string): string {
  const changed = new URL(url)
  changed.pathname = path
  return changed.href
}

const takeRedisDatabase = (url: string): Promise<string> =>
  ask(url, async (redis) => String(1 + ((await redis.incr('databases taken')) % REDIS_DATABASES)))

/** Asks the Redis database that all workers of the run share. */
async function ask<Answer>(url: string, question: (redis: Redis) => Promise<Answer>): Promise<Answer> {
  const redis = connectRedis(url, 'command')
  try {
    return await question(redis)
  } finally {
    redis.disconnect()
  }
}

export interface TestBusiness {
  businessId: string
  secretKey: string
  publishableKey: string
}

/** Creates a business with a key of each kind, and by default with a rate limit that no test reaches. */
export async function createBusiness(sql: Sql, overrides: BusinessSettings = {}): Promise<TestBusiness> {
  const businessId = await insertBusiness(sql, { name: 'Test', rateLimit: 1_000_000, ...overrides })
  const secret = await insertKey(sql, businessId, 'secret')
  const publishable = await insertKey(sql, businessId, 'publishable')
  return { businessId, secretKey: secret.key, publishableKey: publishable.key }
}
