/** The segments thread: changes of membership by time, and the members of rules that were edited. */
import { runSegments as run } from '../../src/segments/run-segments.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import type { ThreadBody } from './thread.ts'

export const runSegments: ThreadBody = async (config, { log, metrics }, signal) => {
  const sql = connectPostgres(config.databaseUrl, {
    // Two loops, of which one saves two sets at once; contacts that are nominated meanwhile; and the lease, which has to wait for none.
    max: 5,
    name: 'sluice-segments',
    // The tables are empty at first and large later: a plan cached early would always scan all of them.
    settings: { plan_cache_mode: 'force_custom_plan', enable_seqscan: 'off' },
  })
  const clickhouse = connectClickHouse(config.clickhouseUrl)
  try {
    await run({ sql, clickhouse, log, metrics, config, configs: new Map(), now: Date.now }, signal)
  } finally {
    await Promise.all([clickhouse.close(), sql.end({ timeout: 1 })])
  }
}
