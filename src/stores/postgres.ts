import postgres from 'postgres'
import { guardQueries } from './guard-queries.ts'
import { socketOpener } from './open-socket.ts'

/** Returns `bigint` columns as numbers, beyond 2^53 as text. */
export type Sql = postgres.Sql

/** A connection or a transaction: for functions that run in both. */
export type Queryable = Sql | postgres.TransactionSql

export interface PostgresOptions {
  /** The most connections. */
  max?: number
  /** Shown in pg_stat_activity. */
  name?: string
  /** Settings of each session, such as plan_cache_mode. */
  settings?: Record<string, string>
}

const INT8 = 20

/**
 * Works around an error of postgres.js 3.4.9. When a connection breaks, the driver keeps unsent data, and from then on writes
 * only after it has collected 1 KiB. The next startup message would never be sent, and every attempt would end in
 * CONNECT_TIMEOUT. A startup message of 1 KiB is sent at once. Postgres rejects it because of the old data before it, and the
 * next attempt is clean. (The short first message of TLS cannot be made longer.)
 */
const LONG_STARTUP_MESSAGE = { 'sluice.greeting': '.'.repeat(1024) }

export function connectPostgres(url: string, options: PostgresOptions = {}): Sql {
  // An option that the driver's types do not declare.
  const socket = { socket: socketOpener() }
  const sql = postgres(url, {
    ...socket,
    max: options.max ?? 4,
    // The default waits up to 20 s between attempts, which looks like a hang after a restart.
    backoff: () => 0.3,
    connect_timeout: 10,
    // Never replaces a connection during a long run of statements.
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
  return guardQueries(sql)
}

function readInteger(text: string): number | string {
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : text
}

/** True when Postgres reported that it wrote nothing. After a lost connection the outcome is unknown. */
export function wasRolledBack(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && error.severity === 'ERROR'
}

export type FaultKind = 'conflict' | 'data' | 'trouble'

/** Deadlock, serialization failure, unique violation, and SL001: an assumption of a save no longer holds. */
const CONFLICTS = new Set(['40P01', '40001', '23505', 'SL001'])

/** The one kind of conflict that a retry may not solve: two items of one micro-batch may conflict with each other. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23505'
}

/** Postgres cancelled it after `statement_timeout`. */
export function isStatementTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '57014'
}

/** An idempotency key that already exists: it was taken to be new, or another save recorded it meanwhile. */
export function isKnownKey(error: unknown): boolean {
  return isUniqueViolation(error) && (error as { table_name?: string }).table_name === 'idempotency_keys'
}

/**
 * Classifies a failed statement: decide again (`conflict`), isolate the item (`data`: class 22 and 23), or wait and retry
 * (`trouble`: connections, memory, disk, time-outs, everything else).
 */
export function faultKind(error: unknown): FaultKind {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (CONFLICTS.has(code)) return 'conflict'
  return /^2[23][0-9A-Z]{3}$/.test(code) ? 'data' : 'trouble'
}
