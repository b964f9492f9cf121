import postgres from 'postgres'
import { splitHosts } from './find-primary.ts'
import { guardQueries } from './guard-queries.ts'
import { socketOpener } from './open-socket.ts'

/** Returns `bigint` columns as numbers, or as text beyond 2^53. */
export type Sql = postgres.Sql

/** For functions that run both on a connection and in a transaction. */
export type Queryable = Sql | postgres.TransactionSql

/**
 * The settings that statements depend on, with values that are not the defaults. A pooler that does not take one of them
 * is refused at the start (store-mode.ts).
 */
export const PROBED_SETTINGS: Record<string, string> = {
  plan_cache_mode: 'force_custom_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  lock_timeout: '29s',
  jit: 'off',
  work_mem: '5MB',
  default_transaction_read_only: 'on',
  max_parallel_workers_per_gather: '0',
  vacuum_cost_delay: '3ms',
  statement_timeout: '29s',
  idle_in_transaction_session_timeout: '29s',
}

export interface PostgresOptions {
  /** Maximum number of connections. Default: 4. */
  max?: number
  /** Application name shown in pg_stat_activity. */
  name?: string
  /** Settings of each session, such as plan_cache_mode. */
  settings?: Record<string, string>
}

const INT8 = 20

/**
 * Works around a bug of postgres.js 3.4.9. When a connection breaks, the driver keeps unsent data, and from then on
 * writes only after it has collected 1 KiB. The next startup message would never be sent, and every attempt would end
 * in CONNECT_TIMEOUT. A startup message of 1 KiB is sent at once. Postgres rejects it because of the old data before
 * it, and the next attempt is clean. (The short first message of TLS cannot be made longer.)
 */
const LONG_STARTUP_MESSAGE = { 'sluice.greeting': '.'.repeat(1024) }

export function connectPostgres(url: string, options: PostgresOptions = {}): Sql {
  const { url: single, hosts } = splitHosts(url)
  // The driver's types do not declare this option.
  const socket = { socket: socketOpener(hosts) }
  const sql = postgres(single, {
    ...socket,
    max: options.max ?? 4,
    // By default the driver waits up to 20 s between attempts, which looks like a hang after a restart.
    backoff: () => 0.3,
    connect_timeout: 10,
    // Prevents the driver from replacing a connection during a long run of statements.
    max_lifetime: null,
    fetch_types: false,
    onnotice: () => undefined,
    types: { int8: { to: INT8, from: [INT8], serialize: String, parse: readInteger } },
    connection: {
      application_name: options.name ?? 'sluice',
      // Postgres reads a bare number as milliseconds.
      statement_timeout: 30_000,
      idle_in_transaction_session_timeout: 30_000,
      ...LONG_STARTUP_MESSAGE,
      ...options.settings,
    },
  })
  return guardQueries(sql, options.name ?? 'sluice')
}

function readInteger(text: string): number | string {
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : text
}

/** Returns whether Postgres reported that it wrote nothing. After a lost connection the outcome is unknown. */
export function wasRolledBack(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && error.severity === 'ERROR'
}

export type FaultKind = 'conflict' | 'data' | 'trouble'

/** Deadlock, serialization failure, unique violation, and SL001 (an assumption of a save no longer holds). */
const CONFLICTS = new Set(['40P01', '40001', '23505', 'SL001'])

/** The only conflict that a retry may not resolve: two items of one micro-batch may conflict with each other. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23505'
}

/** Returns whether Postgres cancelled the statement after `statement_timeout`. */
export function isStatementTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '57014'
}

/** Returns whether an idempotency key already exists: it seemed new, or another save recorded it in the meantime. */
export function isKnownKey(error: unknown): boolean {
  return isUniqueViolation(error) && (error as { table_name?: string }).table_name === 'idempotency_keys'
}

/**
 * Classifies the error of a statement: `conflict` (decide again), `data` (class 22 and 23; isolate the item), or
 * `trouble` (connections, memory, disk, timeouts and everything else; wait and retry).
 */
export function faultKind(error: unknown): FaultKind {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (CONFLICTS.has(code)) return 'conflict'
  return /^2[23][0-9A-Z]{3}$/.test(code) ? 'data' : 'trouble'
}
