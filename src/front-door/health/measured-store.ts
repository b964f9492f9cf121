import type { StoreName } from '../../rules/lateness.ts'

export interface MeasuredStore {
  store: StoreName
  /** Milliseconds for a trivial command. Null when the store did not answer within 2 s. */
  latencyMs: number | null
  /** Bytes in memory (Redis) or on disk (Postgres, ClickHouse). Null when unknown. */
  bytes: number | null
}
