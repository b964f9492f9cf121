import { INSERT_SETTINGS, insertLines } from '../../stores/insert-lines.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'

/** Inserts JSON lines of `TimelineRow`: all of them or none. A token that was used before changes nothing. */
export async function insertEvents(clickhouse: ClickHouseClient, lines: string[], token: string, signal?: AbortSignal) {
  const settings = `${INSERT_SETTINGS}, insert_deduplication_token = '${token}'`
  await insertLines(clickhouse, `insert into events settings ${settings}`, lines, signal)
}
