import type { Config } from '../config.ts'
import type { ConfigCache } from '../contacts/load/load-businesses.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import type { Sql } from '../stores/postgres.ts'
import type { Sender } from '../stores/wake-ups.ts'

/** Shared by the jobs of the segment worker. */
export interface SegmentDeps {
  sql: Sql
  log: Logger
  metrics?: Metrics
  config: Pick<Config, 'leaseMs'>
  configs: ConfigCache
  /** Epoch milliseconds. */
  now: () => number
  /** Wakes a loop for which a save has made work due. Default: the loop finds it when it looks next. */
  wake?: (sender: Sender) => void
}

/** Shared by the jobs that read the timeline. */
export interface WindowDeps extends SegmentDeps {
  clickhouse: ClickHouseClient
}
