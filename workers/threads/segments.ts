/** The segments thread: membership changes that time causes, and the members of edited rules. */
import { runSegments as run } from '../../src/segments/run-segments.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { connectRedis } from '../../src/stores/redis.ts'
import { createWaker } from '../../src/stores/wake-ups.ts'
import type { ThreadBody } from './thread.ts'

export const runSegments: ThreadBody = async (config, { log, metrics }, signal) => {
  const sql = connectPostgres(config.databaseUrl, {
    // For two loops, each of which saves two sets at once, for contacts that are nominated, and for the lease, which must
    // not wait.
    max: 6,
    name: 'sluice-segments',
    // The tables are empty at first and large later: a plan cached early would always scan all of them.
    settings: { plan_cache_mode: 'force_custom_plan', enable_seqscan: 'off' },
  })
  const clickhouse = connectClickHouse(config.clickhouseUrl)
  const redis = connectRedis(config.redisUrl, 'publish', log)
  const wake = createWaker(redis, log)
  try {
    await run({ sql, clickhouse, log, metrics, config, configs: new Map(), now: Date.now, wake }, signal)
  } finally {
    redis.disconnect()
    await Promise.all([clickhouse.close(), sql.end({ timeout: 1 })])
  }
}
