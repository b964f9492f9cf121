export const STORES = ['redis', 'postgres', 'clickhouse'] as const

export interface MeasuredStore {
  store: (typeof STORES)[number]
  /** Milliseconds for a trivial command. Null when the store did not answer within 2 s. */
  latencyMs: number | null
  /** Bytes in memory (Redis) or on disk (Postgres, ClickHouse). Null when unknown. */
  bytes: number | null
}
