/**
 * All workers of a run set the same retention for the web events that test files share. It is longer than the age of
 * any test's events, because a shorter one would delete the visits of other files. Workers in separate processes need
 * it in their environment.
 */
import { setWebEventRetention } from '../../src/web-events/set-retention.ts'
import type { ClickHouseClient } from '../../src/stores/clickhouse.ts'

const DAYS = 9999

export const KEEPS_WEB_EVENTS = { WEB_EVENTS_KEEP: `${DAYS}d` }

export const keepWebEvents = (clickhouse: ClickHouseClient): Promise<void> => setWebEventRetention(clickhouse, DAYS)

/** Throws if workers of the run have set another retention. */
export async function requireKept(clickhouse: ClickHouseClient): Promise<void> {
  const result = await clickhouse.query({
    query: `select create_table_query from system.tables where database = currentDatabase() and name = 'web_events'`,
    format: 'TabSeparated',
  })
  const found = await result.text()
  if (!found.includes(`toIntervalDay(${DAYS})`)) throw new Error(`Workers of a test change what others keep: ${found}`)
}
