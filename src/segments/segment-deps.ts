import type { Config } from '../config.ts'
import type { ConfigCache } from '../contacts/load-businesses.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import type { Sql } from '../stores/postgres.ts'

/** What the jobs of the segment worker share. */
export interface SegmentDeps {
  sql: Sql
  log: Logger
  metrics?: Metrics
  config: Pick<Config, 'leaseMs'>
  configs: ConfigCache
  /** Epoch ms. */
  now: () => number
}

/** What the jobs share that read the timeline. */
export interface WindowDeps extends SegmentDeps {
  clickhouse: ClickHouseClient
}
