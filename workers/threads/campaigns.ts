/** The campaigns thread: moves enrolments through their steps, and sends their messages. */
import { openEngine } from '../../src/campaigns/engine/open-engine.ts'
import { runBranches } from '../../src/campaigns/engine/run-branches.ts'
import { runCampaigns as run } from '../../src/campaigns/engine/run-campaigns.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { type RedisRole, connectRedis } from '../../src/stores/redis.ts'
import { createSubmitter } from '../../src/stream/submit.ts'
import { guardOf } from '../../src/outbound/target-guard.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import type { ThreadBody } from './thread.ts'

export const runCampaigns: ThreadBody = async (config, { log }, signal) => {
  const sql = connectPostgres(config.databaseUrl, {
    // The claim, messages that are settled, branches, and their lease.
    max: 6,
    name: 'sluice-campaigns',
    // The tables are empty at first and large later: a plan cached early would always scan all of them.
    // Each statement is about few rows that it names: any join but that by an index would read the others, too.
    settings: {
      plan_cache_mode: 'force_custom_plan',
      enable_seqscan: 'off',
      enable_hashjoin: 'off',
      enable_mergejoin: 'off',
    },
  })
  const connect = (role: RedisRole) => connectRedis(config.redisUrl, role, log)
  const redis = { publish: connect('publish'), subscribe: connect('subscribe'), command: connect('command') }
  const submitter = createSubmitter({ sql, redis, log }, config)
  const { submit } = submitter
  const engine = openEngine({ sql, log, guard: guardOf(config), config, now: Date.now, submit })
  const clickhouse = connectClickHouse(config.clickhouseUrl)
  try {
    await Promise.all([run(engine.deps, signal), runBranches({ sql, clickhouse, log, config, now: Date.now }, signal)])
  } finally {
    await engine.close()
    await clickhouse.close()
    await submitter.close()
    for (const connection of Object.values(redis)) connection.disconnect()
    await sql.end({ timeout: 1 })
  }
}
