/** Checks that the stores answer. Errors name the store, its variable and its address, but never its password. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { StoreUrls } from './data-dir.ts'
import { raceAbort } from '../async/race-abort.ts'
import { connectClickHouse } from './clickhouse.ts'
import { connectRedis } from './redis.ts'
import {
  STANDBY_MS,
  StoreModeError,
  connectProbe,
  refusePostgresMode,
  refuseRedisMode,
  requirePrimary,
} from './store-mode.ts'

type Store = keyof StoreUrls

const STORES: Record<Store, { name: string; variable: string; probe(url: string): Promise<void> }> = {
  databaseUrl: { name: 'Postgres', variable: 'DATABASE_URL', probe: probePostgres },
  redisUrl: { name: 'Redis', variable: 'REDIS_URL', probe: probeRedis },
  clickhouseUrl: { name: 'ClickHouse', variable: 'CLICKHOUSE_URL', probe: probeClickHouse },
}

/** A starting store refuses connections for a moment. */
const RETRY_FOR_MS = 3000
const RETRY_MS = 200
/**
 * A store that accepts the connection but is silent may be starting. The Postgres driver has the same connect timeout.
 */
const SILENT_MS = 10_000

/** Codes of the operating system and of postgres.js for an unreachable server. */
const UNREACHABLE =
  /^(?:ECONN(?:REFUSED|RESET)|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|CONNECT_TIMEOUT|CONNECTION_CLOSED)$/
/** Codes of a Postgres that is starting or stopping. */
const STARTING = /^57P0[123]$/
/**
 * Error classes of a Postgres that answers but rejects the connection: login, no such database, too many connections,
 * shutdown.
 */
const REJECTING = /^(?:28|3D|53|57)[0-9A-Z]{3}$/

/** Error codes of Postgres and ClickHouse. */
const NO_DATABASE = /^(?:3D000|81)$/
const WRONG_PASSWORD = /^(?:28[0-9A-Z]{3}|516|194)$/
const UNDEFINED_TABLE = '42P01'

/** Returns the error code when the server cannot be reached; undefined for any other error. */
export function unreachableCode(error: unknown): string | undefined {
  const code = codeOf(error)
  return UNREACHABLE.test(code) ? code : undefined
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

/** The host and port of a URL (or several); empty when it has none. */
export function hostOf(url: string): string {
  const authority = /^\w+:\/\/([^/?#]*)/.exec(url)?.[1] ?? ''
  return authority.slice(authority.lastIndexOf('@') + 1)
}

/**
 * Resolves when all these stores answer; waits for a store that is starting. Rejects with one line per store that does
 * not answer, or when `signal` aborts. `urls`: see resolveStores.
 */
export async function requireStores(config: Config, urls: Partial<StoreUrls>, signal?: AbortSignal): Promise<void> {
  const entries = Object.entries(urls) as [Store, string | undefined][]
  const checks = entries.flatMap(([store, url]) => (url ? [requireStore(config, store, url, signal)] : []))
  const results = await Promise.allSettled(checks)
  signal?.throwIfAborted()
  const errors = results.flatMap((one) => (one.status === 'rejected' ? [(one.reason as Error).message] : []))
  if (errors.length > 0) throw new Error(errors.join('\n'))
}

async function requireStore(config: Config, store: Store, url: string, signal?: AbortSignal): Promise<void> {
  const started = performance.now()
  for (;;) {
    try {
      return await raceAbort(inTime(STORES[store].probe(url)), signal)
    } catch (error) {
      signal?.throwIfAborted()
      const isStarting = unreachableCode(error) !== undefined || STARTING.test(codeOf(error))
      const retryMs = isStarting ? RETRY_FOR_MS : error instanceof StoreModeError && error.mayPass ? STANDBY_MS : 0
      if (performance.now() > started + retryMs) throw describeStoreError(config, store, url, error)
    }
    await sleep(RETRY_MS, undefined, { signal })
  }
}

async function inTime(answer: Promise<void>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(Object.assign(new Error(), { code: 'ETIMEDOUT' })), SILENT_MS)
  try {
    await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Adds the store's name to the error of its first query, if the error is about the store; otherwise returns the error
 * unchanged.
 */
export function withStoreName(config: Config, store: Store, url: string, error: unknown): unknown {
  if (codeOf(error) === UNDEFINED_TABLE) {
    const who = describeStore(config, store, url)
    return new Error(`${who} has no tables of Sluice yet. Run \`npm run migrate\`, then start again.`, { cause: error })
  }
  if (error instanceof StoreModeError) return describeStoreError(config, store, url, error)
  const isOfStore = unreachableCode(error) !== undefined || REJECTING.test(codeOf(error))
  return isOfStore ? describeStoreError(config, store, url, error) : error
}

/** Returns, for example, `Postgres (DATABASE_URL, host:5432)`. */
export function describeStore(config: Config, store: Store, url: string): string {
  const { name, variable } = STORES[store]
  const origin = config[store] === undefined ? 'of DATA_DIR' : variable
  return `${name} (${[origin, hostOf(url)].filter(Boolean).join(', ')})`
}

/** Returns an error that names the store and its variable, and says what to do next. */
export function describeStoreError(config: Config, store: Store, url: string, error: unknown): Error {
  const { variable } = STORES[store]
  const isGiven = config[store] !== undefined
  const who = describeStore(config, store, url)
  if (error instanceof StoreModeError) return new Error(`${who} ${error.message}`)
  const code = unreachableCode(error)
  if (code) {
    const remedy = isGiven ? `Start it, or correct ${variable}.` : 'Is `start` running?'
    return new Error(`${who} does not answer: ${code}. ${remedy}`)
  }
  const [firstLine = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  const reason = firstLine.trim().replace(/\.$/, '')
  if (NO_DATABASE.test(codeOf(error)))
    return new Error(`${who} rejected the connection: ${reason}. Create the database, or correct ${variable}.`)
  if (WRONG_PASSWORD.test(codeOf(error)) || /^(?:WRONGPASS|NOAUTH|ERR AUTH)/.test(reason))
    return new Error(
      `${who} rejected the connection: ${reason}. Correct the user and the password in ${isGiven ? variable : 'DATA_DIR'}.`,
    )
  return new Error(`${who} rejected the connection: ${reason}.`)
}

async function probePostgres(url: string): Promise<void> {
  const sql = connectProbe(url)
  try {
    await refusePostgresMode(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function probeRedis(url: string): Promise<void> {
  const redis = connectRedis(url, 'command')
  try {
    await new Promise((resolve, reject) => redis.once('ready', resolve).once('error', reject))
    await refuseRedisMode(redis)
  } finally {
    redis.disconnect()
  }
}

async function probeClickHouse(url: string): Promise<void> {
  const clickhouse = connectClickHouse(url, { toPublic: true })
  try {
    // Not a ping, because a ping does not check the database.
    await clickhouse.command({ query: 'select 1' })
  } finally {
    await clickhouse.close()
  }
}

/** Rejects, with the name of the variable, when Postgres is a standby for 10 s. */
export async function requirePrimaryPostgres(config: Config, url: string): Promise<void> {
  await requirePrimary(url).catch((error: unknown) => {
    throw withStoreName(config, 'databaseUrl', url, error)
  })
}
