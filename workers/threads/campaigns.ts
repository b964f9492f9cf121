/** The campaigns thread: moves enrolments through their steps, and sends their messages and those of calls. */
import { openCallEngine } from '../../src/calls/engine/open-call-engine.ts'
import { runCalls } from '../../src/calls/engine/run-calls.ts'
import { createReporter } from '../../src/calls/settled-calls.ts'
import { ENGINE_SETTINGS, openEngine } from '../../src/campaigns/engine/open-engine.ts'
import { runBranches } from '../../src/campaigns/engine/branches/run-branches.ts'
import { runCampaigns as run } from '../../src/campaigns/engine/run-campaigns.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { type RedisRole, connectRedis } from '../../src/stores/redis.ts'
import { createSubmitter } from '../../src/stream/publish/submit.ts'
import { listenForWakeUps } from '../../src/stores/wake-ups.ts'
import { guardOf } from '../../src/outbound/target-guard.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import type { ThreadBody } from './thread.ts'

export const runCampaigns: ThreadBody = async (config, { log }, signal) => {
  const open = (max: number, settings: Record<string, string>) =>
    connectPostgres(config.databaseUrl, { max, name: 'sluice-campaigns', settings })
  // For claims and for settling messages.
  const sql = open(4, ENGINE_SETTINGS)
  // For branches and their lease. The number of enrolments that wait at a branch varies widely, and a plan cached early
  // would suit only small numbers.
  const forBranches = open(2, { ...ENGINE_SETTINGS, plan_cache_mode: 'force_custom_plan' })
  const connect = (role: RedisRole) => connectRedis(config.redisUrl, role, log)
  const redis = { publish: connect('publish'), subscribe: connect('subscribe'), command: connect('command') }
  const submitter = createSubmitter({ sql, redis, log }, config)
  const { submit } = submitter
  const wakeUps = listenForWakeUps(redis.subscribe, 'campaigns', log)
  const engine = openEngine({ sql, log, guard: guardOf(config, sql), config, now: Date.now, submit, wakeUps })
  // Of their own, so that calls wait for no claim of a campaign.
  const forCalls = open(3, ENGINE_SETTINGS)
  const callWakeUps = listenForWakeUps(redis.subscribe, 'calls', log)
  const calls = openCallEngine({
    sql: forCalls,
    log,
    guard: guardOf(config, forCalls),
    config,
    now: Date.now,
    wakeUps: callWakeUps,
    report: createReporter(redis.publish, log),
  })
  const clickhouse = connectClickHouse(config.clickhouseUrl)
  try {
    await Promise.all([
      run(engine.deps, signal),
      runCalls(calls.deps, signal),
      runBranches({ sql: forBranches, clickhouse, log, config, now: Date.now }, signal),
    ])
  } finally {
    await engine.close()
    await calls.close()
    callWakeUps.close()
    await clickhouse.close()
    await submitter.close()
    wakeUps.close()
    for (const connection of Object.values(redis)) connection.disconnect()
    await Promise.all([sql, forBranches, forCalls].map((pool) => pool.end({ timeout: 1 })))
  }
}
