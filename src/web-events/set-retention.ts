import type { ClickHouseClient } from '../stores/clickhouse.ts'

/** Sets for how many days ClickHouse keeps web events; it drops older ones by itself, within hours. */
export async function setWebEventRetention(clickhouse: ClickHouseClient, days: number): Promise<void> {
  const found = await clickhouse.query({
    query: `select engine_full from system.tables where database = currentDatabase() and name = 'web_events'`,
    format: 'JSONEachRow',
  })
  const [table] = await found.json<{ engine_full: string }>()
  if (table?.engine_full.includes(`toIntervalDay(${days})`)) return
  // What is there is judged anew, in the background.
  await clickhouse.command({
    query: `alter table web_events modify ttl toDateTime(intDiv(occurred_ms, 1000)) + toIntervalDay(${days})
      settings materialize_ttl_after_modify = 1, mutations_sync = 0`,
  })
}
