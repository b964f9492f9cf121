/**
 * Queries of backtests. They may take longer than queries for a page that a person looks at, and leave processors for
 * the others.
 */
import type { Logger } from '../../log.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import { textLiteral } from '../../stores/clickhouse-literal.ts'
import { queryWithRetry } from '../../timeline/reading/query-with-retry.ts'
import { BacktestError } from './backtest-error.ts'

export interface AskDeps {
  clickhouse: ClickHouseClient
  log: Logger
  /** Aborts when the result is no longer wanted. */
  signal: AbortSignal
}

const PATIENCE = { ms: 10_000, whileAliveMs: 120_000 }
const MAX_SECONDS = 60
const MEMORY_BYTES = 512 * 1024 ** 2

/** Throws BacktestError when ClickHouse does not answer in time. */
export async function askClickHouse<Row>(
  deps: AskDeps,
  query: string,
  params: Record<string, unknown>,
): Promise<Row[]> {
  const rows = await queryWithRetry(deps, PATIENCE, async (signal) => {
    const result = await deps.clickhouse.query({
      query,
      query_params: params,
      format: 'JSONEachRow',
      abort_signal: signal,
      clickhouse_settings: {
        output_format_json_quote_64bit_integers: 0,
        output_format_json_quote_denormals: 0,
        max_execution_time: MAX_SECONDS,
        max_memory_usage: String(MEMORY_BYTES),
        max_threads: 1,
      },
    })
    return await result.json<Row>()
  })
  deps.signal.throwIfAborted()
  if (rows === undefined) throw new BacktestError('The timeline cannot be read now. Start the backtest again later.')
  return rows
}

/** For `in (…)`. At most 5,000, because the text of a query is limited. */
export const uuidList = (ids: readonly string[]): string => ids.map(textLiteral).join(', ')
