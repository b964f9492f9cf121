/** Queries for people who look at a page: limited in time and memory. */
import { ClickHouseError } from '@clickhouse/client'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'

const LIMIT_MS = 5_000
const MEMORY_BYTES = 512 * 1024 ** 2

export async function selectWithinLimits<Row>(
  clickhouse: ClickHouseClient,
  query: string,
  params: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Row[]> {
  const result = await clickhouse.query({
    query,
    query_params: params,
    format: 'JSONEachRow',
    abort_signal: signal,
    clickhouse_settings: {
      output_format_json_quote_64bit_integers: 0,
      max_execution_time: LIMIT_MS / 1000,
      max_memory_usage: String(MEMORY_BYTES),
    },
  })
  return result.json<Row>()
}

/**
 * Resolves with null when the limits are exceeded, or ClickHouse does not answer. Rejects with other errors of
 * ClickHouse.
 */
export async function nullOnTimeout<Result>(read: (signal: AbortSignal) => Promise<Result>): Promise<Result | null> {
  const signal = AbortSignal.timeout(LIMIT_MS)
  try {
    return await read(signal)
  } catch (error) {
    if (signal.aborted || !(error instanceof ClickHouseError) || LIMITS.has(error.type ?? '')) return null
    throw error
  }
}

const LIMITS = new Set(['MEMORY_LIMIT_EXCEEDED', 'TIMEOUT_EXCEEDED'])
