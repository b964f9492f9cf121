import type { ClickHouseSettings } from '@clickhouse/client'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import { LONG_STATEMENT_SETTINGS } from '../../outbox/look-up-events.ts'

/** Limits the load: at most two threads, a time limit, and little memory before data is spilled to the disk. */
const SETTINGS = {
  ...LONG_STATEMENT_SETTINGS,
  max_threads: 2,
  max_execution_time: 55,
  max_bytes_before_external_group_by: '268435456',
  optimize_aggregation_in_order: 1 as const,
  join_use_nulls: 0 as const,
  output_format_json_quote_64bit_integers: 1 as const,
}

/** @param more additional settings of this query */
export async function queryClickHouse<Row>(
  clickhouse: ClickHouseClient,
  query: string,
  more: ClickHouseSettings = {},
): Promise<Row[]> {
  const result = await clickhouse.query({
    query,
    format: 'JSONEachRow',
    clickhouse_settings: { ...SETTINGS, ...more },
  })
  return await result.json<Row>()
}

/** Returns whether ClickHouse or Postgres ended a statement at its time limit. */
export function isTimeout(error: unknown): boolean {
  const { type, code } = error as { type?: unknown; code?: unknown }
  return type === 'TIMEOUT_EXCEEDED' || code === '57014'
}
