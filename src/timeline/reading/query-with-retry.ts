import { ClickHouseError } from '@clickhouse/client'
import type { Logger } from '../../log.ts'
import { type ClickHouseClient, isAlive } from '../../stores/clickhouse.ts'
import { sleep } from '../../async/sleep.ts'
import { describeFault } from '../../stores/insert-lines.ts'

interface QueryDeps {
  clickhouse: ClickHouseClient
  log: Logger
  /** Aborts when the answer is no longer needed. */
  signal?: AbortSignal
}

export interface RetryOptions {
  /** Milliseconds that ClickHouse may be silent or answer with errors. */
  ms: number
  /** Milliseconds in all that it may take while it answers pings. */
  whileAliveMs: number
}

const RETRY_MS = 150
const NEVER = new AbortController().signal

/**
 * Queries ClickHouse until it answers. Resolves with undefined when it does not answer within the limits, or when
 * `deps.signal` aborts. Rejects when the query is invalid, which is a bug.
 */
export async function queryWithRetry<Result>(
  deps: QueryDeps,
  limits: RetryOptions,
  query: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  const began = performance.now()
  const watch = watchLiveness(deps.clickhouse, limits)
  const gone = deps.signal ?? NEVER
  const signal = AbortSignal.any([watch.signal, gone])
  try {
    for (;;) {
      try {
        return await query(signal)
      } catch (error) {
        if (isInvalidQuery(error)) throw error
        if (gone.aborted) return undefined
        deps.log.warn({ reason: describeFault(error) }, 'not read from ClickHouse')
        if (performance.now() - began < limits.ms) await sleep(RETRY_MS, signal)
        if (signal.aborted || performance.now() - began >= limits.ms) return undefined
      }
    }
  } finally {
    watch.end()
  }
}

const LOOK_MS = 250

/**
 * Aborts when a limit is exceeded. Silence is counted in checks and not by the clock: a process that was too busy to
 * check was also too busy to read an answer.
 */
function watchLiveness(clickhouse: ClickHouseClient, limits: RetryOptions): { signal: AbortSignal; end(): void } {
  const watch = new AbortController()
  const began = performance.now()
  let silentMs = 0
  const timer = setInterval(() => {
    silentMs += LOOK_MS
    if (silentMs >= limits.ms || performance.now() - began >= limits.whileAliveMs) watch.abort()
    else if (limits.whileAliveMs > limits.ms) void isAlive(clickhouse).then((alive) => alive && (silentMs = 0))
  }, LOOK_MS)
  return { signal: watch.signal, end: () => clearInterval(timer) }
}

/** A missing table is not listed: a ClickHouse that was lost gets its tables back. */
const INVALID_QUERY =
  /^(SYNTAX_ERROR|BAD_ARGUMENTS|BAD_QUERY_PARAMETER|UNKNOWN_(IDENTIFIER|FUNCTION|SETTING|QUERY_PARAMETER)|ILLEGAL_TYPE_OF_ARGUMENT|TYPE_MISMATCH|NO_COMMON_TYPE|TOO_DEEP_SUBQUERIES)$/

/** Returns true when ClickHouse does not understand a query, which is a bug. */
export const isInvalidQuery = (error: unknown): boolean =>
  error instanceof ClickHouseError && INVALID_QUERY.test(error.type ?? '')
