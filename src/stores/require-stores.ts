/** Which store does not answer, in an operator's words: its name, its variable and its address, never its password. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config, StoreUrls } from '../config.ts'
import { raceAbort } from '../async/race-abort.ts'
import { connectClickHouse } from './clickhouse.ts'
import { connectPostgres } from './postgres.ts'
import { connectRedis } from './redis.ts'

type Store = keyof StoreUrls

const STORES: Record<Store, { name: string; variable: string; ask(url: string): Promise<void> }> = {
  databaseUrl: { name: 'Postgres', variable: 'DATABASE_URL', ask: askPostgres },
  redisUrl: { name: 'Redis', variable: 'REDIS_URL', ask: askRedis },
  clickhouseUrl: { name: 'ClickHouse', variable: 'CLICKHOUSE_URL', ask: askClickHouse },
}

/** A store that is just starting refuses connections for a moment. */
const PATIENCE_MS = 3000
const AGAIN_MS = 200
/** One that is reached and says nothing may be waking up; as long as Postgres' driver gives a connection. */
const SILENT_MS = 10_000

/** Codes of the system and of postgres.js for a server that is not there. */
const UNREACHABLE =
  /^(?:ECONN(?:REFUSED|RESET)|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|CONNECT_TIMEOUT|CONNECTION_CLOSED)$/
/** Postgres' own: it starts or stops. */
const PASSING = /^57P0[123]$/
/** Classes of Postgres for one that is there and lets nobody in: log-in, no such database, too many connections, shutdown. */
const REFUSING = /^(?:28|3D|53|57)[0-9A-Z]{3}$/

/** Codes of Postgres and of ClickHouse. */
const NO_DATABASE = /^(?:3D000|81)$/
const WRONG_PASSWORD = /^(?:28[0-9A-Z]{3}|516|194)$/
const UNDEFINED_TABLE = '42P01'

/** The code of a server that is not there; undefined for any other fault. */
export function unreachableCode(error: unknown): string | undefined {
  const code = codeOf(error)
  return UNREACHABLE.test(code) ? code : undefined
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

/** Host and port (several where it names several) of a URL; empty where it names none. */
export function placeOf(url: string): string {
  const authority = /^\w+:\/\/([^/?#]*)/.exec(url)?.[1] ?? ''
  return authority.slice(authority.lastIndexOf('@') + 1)
}

/**
 * Resolves once these stores answer, those that are just starting included. Rejects with one line for each that does not, or
 * when `signal` is aborted. `urls`: see resolveStores.
 */
export async function requireStores(config: Config, urls: Partial<StoreUrls>, signal?: AbortSignal): Promise<void> {
  const entries = Object.entries(urls) as [Store, string | undefined][]
  const asked = entries.flatMap(([store, url]) => (url ? [requireStore(config, store, url, signal)] : []))
  const settled = await Promise.allSettled(asked)
  signal?.throwIfAborted()
  const complaints = settled.flatMap((one) => (one.status === 'rejected' ? [(one.reason as Error).message] : []))
  if (complaints.length > 0) throw new Error(complaints.join('\n'))
}

async function requireStore(config: Config, store: Store, url: string, signal?: AbortSignal): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return await raceAbort(inTime(STORES[store].ask(url)), signal)
    } catch (error) {
      signal?.throwIfAborted()
      const mayPass = unreachableCode(error) !== undefined || PASSING.test(codeOf(error))
      if (!mayPass || performance.now() > deadline) throw explainStore(config, store, url, error)
    }
    await sleep(AGAIN_MS, undefined, { signal })
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

/** What a store's first answer has thrown, with the store's name where it is about the store; else as it is. */
export function nameStore(config: Config, store: Store, url: string, error: unknown): unknown {
  if (codeOf(error) === UNDEFINED_TABLE) {
    const who = describeStore(config, store, url)
    return new Error(`${who} has no tables of Sluice yet. Run \`npm run migrate\`, then start again.`, { cause: error })
  }
  const isOfStore = unreachableCode(error) !== undefined || REFUSING.test(codeOf(error))
  return isOfStore ? explainStore(config, store, url, error) : error
}

/** `Postgres (DATABASE_URL, host:5432)`. */
export function describeStore(config: Config, store: Store, url: string): string {
  const { name, variable } = STORES[store]
  const origin = config[store] === undefined ? 'of DATA_DIR' : variable
  return `${name} (${[origin, placeOf(url)].filter(Boolean).join(', ')})`
}

/** With the store's name, its variable and what to do. */
export function explainStore(config: Config, store: Store, url: string, error: unknown): Error {
  const { variable } = STORES[store]
  const isGiven = config[store] !== undefined
  const who = describeStore(config, store, url)
  const code = unreachableCode(error)
  if (code) {
    const remedy = isGiven ? `Start it, or correct ${variable}.` : 'Is `start` running?'
    return new Error(`${who} does not answer: ${code}. ${remedy}`)
  }
  const [words = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  const said = words.trim().replace(/\.$/, '')
  if (NO_DATABASE.test(codeOf(error)))
    return new Error(`${who} refuses: ${said}. Create the database, or correct ${variable}.`)
  if (WRONG_PASSWORD.test(codeOf(error)) || /^(?:WRONGPASS|NOAUTH|ERR AUTH)/.test(said))
    return new Error(
      `${who} refuses: ${said}. Correct the user and the password in ${isGiven ? variable : 'DATA_DIR'}.`,
    )
  return new Error(`${who} refuses: ${said}.`)
}

async function askPostgres(url: string): Promise<void> {
  const sql = connectPostgres(url, { max: 1, name: 'sluice-probe' })
  try {
    await sql`select 1`
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function askRedis(url: string): Promise<void> {
  const redis = connectRedis(url, 'command')
  try {
    await new Promise((resolve, reject) => redis.once('ready', resolve).once('error', reject))
  } finally {
    redis.disconnect()
  }
}

async function askClickHouse(url: string): Promise<void> {
  const clickhouse = connectClickHouse(url, { toPublic: true })
  try {
    // A ping names no database.
    await clickhouse.command({ query: 'select 1' })
  } finally {
    await clickhouse.close()
  }
}
