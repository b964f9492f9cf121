import type { Logger } from '../../log.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { TimelineMetrics } from './observe-outbox.ts'

export interface ShipDeps {
  sql: Sql
  clickhouse: ClickHouseClient
  log: Logger
  metrics?: TimelineMetrics
}
