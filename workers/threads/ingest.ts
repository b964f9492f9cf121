/** The ingest thread: connections of its own, and the loops of its share of the partitions. */
import { connectPostgres } from '../../src/stores/postgres.ts'
import { connectRedis } from '../../src/stores/redis.ts'
import { readPartitions } from '../../src/stream/positions.ts'
import { startIngestLoops } from '../../src/stream/start-ingest-loops.ts'
import { applyMicroBatch } from '../pipeline.ts'
import type { ThreadBody, ThreadTools } from './task.ts'

const MOST_CONNECTIONS = 32

export const runIngest: ThreadBody = async (config, { name, log, metrics }, signal) => {
  // Leases are renewed beside the saves, not behind them.
  const leases = connectPostgres(config.databaseUrl, { max: 2, name: 'sluice-leases' })
  const partitions = await readPartitions(leases)
  // One for each loop that could run here: a live save never queues behind a backfill's.
  const saves = connectPostgres(config.databaseUrl, {
    max: Math.min(2 * partitions, MOST_CONNECTIONS),
    name: 'sluice-ingest',
  })
  const redis = connectRedis(config.redisUrl, 'command', log)
  const deps = { sql: saves, log, configs: new Map(), metrics: metricsOfSaves(metrics) }
  const loops = startIngestLoops(
    {
      sql: leases,
      redis,
      connectReader: () => connectRedis(config.redisUrl, 'read', log),
      apply: (batch, stop) => applyMicroBatch(deps, batch, stop),
      log,
      metrics,
    },
    { owner: name, leaseMs: config.leaseMs, signal },
  )
  try {
    await loops.done
  } finally {
    redis.disconnect()
    await Promise.all([saves.end({ timeout: 5 }), leases.end({ timeout: 5 })])
  }
}

function metricsOfSaves({ saves }: ThreadTools['metrics']) {
  return {
    saved: () => saves.inc({ outcome: 'applied' }),
    conflict: () => saves.inc({ outcome: 'conflict' }),
  }
}
