import type { ClickHouseClient } from './clickhouse.ts'
import { ONE_THREAD } from './insert-lines.ts'

/** Tables that keep the highest revision of each state. */
export type StatesTable = 'contact_snapshots' | 'visitors' | 'visitor_links' | 'visitor_touches' | 'segment_definitions'

/**
 * Inserts JSON lines into a table that keeps the highest revision of each state. Each insert has a token of its own:
 * otherwise ClickHouse, which recognises repeated blocks, would skip a block that it had before and has since lost.
 * (The settings that control this have changed between versions.) Inserting a state twice changes nothing.
 */
export async function insertStates(
  clickhouse: ClickHouseClient,
  table: StatesTable,
  lines: string[],
  signal?: AbortSignal,
): Promise<void> {
  if (lines.length === 0) return
  const settings = [
    'async_insert = 0',
    'insert_deduplicate = 1',
    'deduplicate_blocks_in_dependent_materialized_views = 1',
    `insert_deduplication_token = '${crypto.randomUUID()}'`,
    'input_format_skip_unknown_fields = 1',
    'input_format_null_as_default = 1',
    ...ONE_THREAD,
  ].join(', ')
  const query = `insert into ${table} settings ${settings} format JSONEachRow\n${lines.join('\n')}`
  await clickhouse.command({ query, ...(signal && { abort_signal: signal }) })
}
