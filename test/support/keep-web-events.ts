/**
 * All workers of a run set the retention of the web events that test files share: the same, and longer than those of any test
 * are old. Another one would delete the visits of other files. Workers in a process of their own need it in their environment.
 */
import { setWebEventRetention } from '../../src/web-events/set-retention.ts'
import type { ClickHouseClient } from '../../src/stores/clickhouse.ts'

const DAYS = 9999

export const KEEPS_WEB_EVENTS = { WEB_EVENTS_KEEP: `${DAYS}d` }

export const keepWebEvents = (clickhouse: ClickHouseClient): Promise<void> => setWebEventRetention(clickhouse, DAYS)

/** Throws if some workers of the run have set another retention. */
export async function requireKept(clickhouse: ClickHouseClient): Promise<void> {
  const result = await clickhouse.query({
    query: `select create_table_query from system.tables where database = currentDatabase() and name = 'web_events'`,
    format: 'TabSeparated',
  })
  const found = await result.text()
  if (!found.includes(`toIntervalDay(${DAYS})`)) throw new Error(`Workers of a test change what others keep: ${found}`)
}
