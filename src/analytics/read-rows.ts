/** Runs queries for charts, with limits of memory, of threads, and of the total time of one answer. */
import { ClickHouseError } from '@clickhouse/client'
import type { Logger } from '../log.ts'
import { QUERY_PRIORITY } from '../rules/statement-limits.ts'
import { PROPERTIES } from '../segments/clickhouse/windows-sql.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import { queryWithRetry } from '../timeline/reading/query-with-retry.ts'

/** Values of callers are parameters of `query`. Rejects with QueryFault. */
export type ReadRows = <Row>(query: string, params: Record<string, unknown>) => Promise<Row[]>

/**
 * `too_much`: it takes more time or memory than allowed, and would again. `unavailable`: ClickHouse does not answer.
 */
export class QueryFault extends Error {
  override name = 'QueryFault'
  readonly reason: 'too_much' | 'unavailable'

  constructor(reason: QueryFault['reason']) {
    super(reason)
    this.reason = reason
  }
}

export interface ReadLimits {
  /** For all queries of one answer. */
  ms: number
  bytes: number
}

/** Documented in docs/analytics.md. */
export const READ_LIMITS: ReadLimits = { ms: 10_000, bytes: 512 * 1024 ** 2 }
/** Milliseconds after the limit within which ClickHouse reports that it was exceeded. */
const GRACE_MS = 3_000
/** The longest time until an answer has its rows, or a fault. */
export const LONGEST_QUERY_MS = READ_LIMITS.ms + GRACE_MS

interface ReadDeps {
  clickhouse: ClickHouseClient
  log: Logger
  /** Aborts when the caller has disconnected. */
  signal?: AbortSignal
  /** The comment of the answer's queries in the list of running queries (chart-progress.ts). */
  mark?: string
}

/** For one answer. */
export function openReader(deps: ReadDeps, { ms, bytes }: ReadLimits = READ_LIMITS): ReadRows {
  const end = performance.now() + ms
  let part = 0
  return async <Row>(query: string, params: Record<string, unknown>) => {
    const left = Math.round(end - performance.now())
    if (left <= 0) throw new QueryFault('too_much')
    part += 1
    const comment = deps.mark === undefined ? {} : { log_comment: `${deps.mark} ${part}` }
    const patience = { ms: left + GRACE_MS, whileAliveMs: left + GRACE_MS }
    const rows = await withThreads((threads) =>
      queryWithRetry(deps, patience, async (signal) => {
        try {
          const result = await deps.clickhouse.query({
            query,
            query_params: params,
            format: 'JSONEachRow',
            abort_signal: signal,
            clickhouse_settings: {
              ...SETTINGS,
              ...(query.includes(PROPERTIES) && IN_ORDER),
              ...comment,
              max_threads: threads,
              max_execution_time: left / 1000,
              max_memory_usage: String(bytes),
            },
          })
          return await result.json<Row>()
        } catch (error) {
          if (error instanceof ClickHouseError && TOO_MUCH.has(error.type ?? '')) return 'too_much'
          throw error
        }
      }),
    )
    if (rows === undefined) throw new QueryFault('unavailable')
    if (rows === 'too_much') throw new QueryFault('too_much')
    return rows
  }
}

/** Number of chart queries that run in this process. */
let running = 0

/** Charts must not take the machine from inserts: a query that begins alone has two threads, any other has one. */
async function withThreads<Result>(query: (threads: number) => Promise<Result>): Promise<Result> {
  const threads = running === 0 ? 2 : 1
  running += 1
  try {
    return await query(threads)
  } finally {
    running -= 1
  }
}

/** Conditions on properties can be long (compile-to-clickhouse.ts). */
const SETTINGS = {
  // Events are in the order of contacts (contactRowsSql). Each part of the table buffers this much.
  optimize_aggregation_in_order: 1,
  aggregation_in_order_max_block_bytes: '1000000',
  // The right side of a join is in memory, so queries put the side with fewer rows there. ClickHouse would swap sides
  // whose number of rows it cannot estimate, and load hits into memory.
  query_plan_join_swap_table: 'false',
  output_format_json_quote_64bit_integers: 0,
  join_use_nulls: 0,
  precise_float_parsing: 1,
  max_query_size: '4194304',
  priority: QUERY_PRIORITY.chart,
} as const

/**
 * For queries on properties: ClickHouse would test the condition on a property, which parses JSON, also for events outside of the period.
 */
const IN_ORDER = { allow_reorder_prewhere_conditions: 0 } as const

const TOO_MUCH = new Set(['MEMORY_LIMIT_EXCEEDED', 'TIMEOUT_EXCEEDED', 'TOO_LARGE_ARRAY_SIZE'])
