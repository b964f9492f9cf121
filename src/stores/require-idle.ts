import type { ClickHouseClient } from './clickhouse.ts'

/**
 * Rejects while a mutation is rewriting one of these tables. A caller that stopped waiting for a rewrite must not
 * request it again: ClickHouse would run both in sequence, and it rejects inserts when too many mutations are waiting.
 */
export async function requireIdle(
  clickhouse: ClickHouseClient,
  tables: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  const found = await clickhouse.query({
    query: `select table, toUnixTimestamp(create_time) as since from system.mutations
      where database = currentDatabase() and table in {tables: Array(String)} and not is_done
      order by create_time limit 1`,
    query_params: { tables },
    format: 'JSONEachRow',
    ...(signal && { abort_signal: signal }),
  })
  const [open] = await found.json<{ table: string; since: number }>()
  if (open)
    throw new Error(`ClickHouse has been rewriting ${open.table} since ${new Date(open.since * 1000).toISOString()}`)
}
