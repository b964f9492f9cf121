export const STORES = ['redis', 'postgres', 'clickhouse'] as const

export interface MeasuredStore {
  store: (typeof STORES)[number]
  /** Of a statement that does nothing. Null when the store did not answer within 2 s. */
  latencyMs: number | null
  /** Of Redis in memory, of the others on the disk. Null when it is not known. */
  bytes: number | null
}
