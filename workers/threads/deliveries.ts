/** The deliveries thread: sends conversions to ad platforms and webhooks. */
import { runDeliveries as deliver } from '../../src/deliveries/run-deliveries.ts'
import { guardOf } from '../../src/outbound/target-guard.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { pingRegularly } from '../../src/stores/ping.ts'
import { connectRedis } from '../../src/stores/redis.ts'
import { listenForWakeUps } from '../../src/stores/wake-ups.ts'
import type { ThreadBody } from './thread.ts'

export const runDeliveries: ThreadBody = async (config, { log, metrics }, signal) => {
  const sql = connectPostgres(config.databaseUrl, {
    max: 3,
    name: 'sluice-deliveries',
    // The table is empty at first and large later: a plan cached early would always scan all of it.
    settings: { plan_cache_mode: 'force_custom_plan' },
  })
  const redis = connectRedis(config.redisUrl, 'subscribe', log)
  const endPings = pingRegularly(redis, log)
  const wakeUps = listenForWakeUps(redis, 'deliveries', log)
  try {
    await deliver({ sql, log, metrics, config, guard: guardOf(config, sql), wakeUps }, signal)
  } finally {
    wakeUps.close()
    endPings()
    redis.disconnect()
    await sql.end({ timeout: 1 })
  }
}
