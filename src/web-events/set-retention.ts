import type { ClickHouseClient } from '../stores/clickhouse.ts'

/** Sets how many days ClickHouse keeps web events. ClickHouse deletes older ones automatically, within hours. */
export async function setWebEventRetention(clickhouse: ClickHouseClient, days: number): Promise<void> {
  const found = await clickhouse.query({
    query: `select engine_full from system.tables where database = currentDatabase() and name = 'web_events'`,
    format: 'JSONEachRow',
  })
  const [table] = await found.json<{ engine_full: string }>()
  if (table?.engine_full.includes(`toIntervalDay(${days})`)) return
  // ClickHouse applies the new limit to existing rows in the background.
  await clickhouse.command({
    query: `alter table web_events modify ttl toDateTime(intDiv(occurred_ms, 1000)) + toIntervalDay(${days})
      settings materialize_ttl_after_modify = 1, mutations_sync = 0`,
  })
}
