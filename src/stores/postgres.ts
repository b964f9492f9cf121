import postgres from 'postgres'
import { guardQueries } from './guard-queries.ts'
import { socketOpener } from './open-socket.ts'

/** `bigint` columns arrive as numbers, or as text beyond 2^53. */
export type Sql = postgres.Sql

export interface PostgresOptions {
  /** Connections at most. */
  max?: number
  /** Shown in pg_stat_activity. */
  name?: string
  /** Settings of each session, such as plan_cache_mode. */
  settings?: Record<string, string>
}

const INT8 = 20

/**
 * postgres.js 3.4.9 keeps what it had still to write when a connection breaks, and from then on writes only once it has
 * gathered 1 KiB: its next greeting would never leave, and every attempt would end in CONNECT_TIMEOUT. A greeting of that
 * size leaves at once. With the remains before it it is refused, and the attempt after that is clean. (The short greeting
 * of TLS cannot be helped so.)
 */
const LONG_GREETING = { 'sluice.greeting': '.'.repeat(1024) }

export function connectPostgres(url: string, options: PostgresOptions = {}): Sql {
  // An option that the driver's types leave out.
  const socket = { socket: socketOpener() }
  const sql = postgres(url, {
    ...socket,
    max: options.max ?? 4,
    // The default waits up to 20 s between attempts, which looks like a hang after a restart.
    backoff: () => 0.3,
    connect_timeout: 10,
    // A statement holds its place on a connection; no pool may rotate it under a long run.
    max_lifetime: null,
    fetch_types: false,
    onnotice: () => undefined,
    types: { int8: { to: INT8, from: [INT8], serialize: String, parse: readInteger } },
    connection: {
      application_name: options.name ?? 'sluice',
      // Postgres reads a bare number as milliseconds.
      statement_timeout: 30_000,
      idle_in_transaction_session_timeout: 30_000,
      ...LONG_GREETING,
      ...options.settings,
    },
  })
  return guardQueries(sql)
}

function readInteger(text: string): number | string {
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : text
}

/** True when Postgres said that it wrote nothing; a lost connection leaves that open. */
export function wasRolledBack(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && error.severity === 'ERROR'
}

export type FaultKind = 'conflict' | 'data' | 'trouble'

/** Deadlock, serialization failure, unique violation, and an assumption of a save that no longer holds (our own). */
const CONFLICTS = new Set(['40P01', '40001', '23505', 'SL001'])

/** The one kind of conflict that need not pass: two items of one micro-batch could be at odds with each other. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23505'
}

/** Postgres cancelled it after `statement_timeout`. */
export function isTimeOut(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '57014'
}

/** An idempotency key that was there: taken to be new, or recorded by somebody else meanwhile. */
export function isKnownKey(error: unknown): boolean {
  return isUniqueViolation(error) && (error as { table_name?: string }).table_name === 'idempotency_keys'
}

/**
 * What to do about a failed statement: decide again (`conflict`), isolate the item (`data`: class 22 and 23),
 * or wait until it passes (`trouble`: connections, memory, disk, time-outs, everything else).
 */
export function faultKind(error: unknown): FaultKind {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (CONFLICTS.has(code)) return 'conflict'
  return /^2[23][0-9A-Z]{3}$/.test(code) ? 'data' : 'trouble'
}
