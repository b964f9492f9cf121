/** What all charts have in common. */
import type { Sql } from '../../stores/postgres.ts'
import type { ReadLimits, ReadRows } from '../read-rows.ts'
import type { Buckets } from '../buckets.ts'
import type { Parameters } from './parameters.ts'

/** Reads the parameters of a chart, and returns the computation of its figures. Undefined: it noted a fault. */
export type Chart<Data extends object> = (parameters: Parameters) => Computation<Data> | undefined

/** Rejects with QueryFault. */
export type Computation<Data> = (stores: ChartStores) => Promise<Data>

export interface ChartStores {
  sql: Sql
  /** Called once. Without limits, they are READ_LIMITS. */
  openReader: (limits?: ReadLimits) => ReadRows
}

export const toIso = (at: number): string => new Date(at).toISOString()

export const showBuckets = ({ from, to, starts }: Buckets) => ({
  from: toIso(from),
  to: toIso(to),
  buckets: starts.map(toIso),
})
