/** An ingest thread: its connections, and the loops of its partitions. */
import { createContactCaches } from '../../src/contacts/load/contact-cache.ts'
import { readPartitions } from '../../src/migrate/migrate.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { type Sql, connectPostgres } from '../../src/stores/postgres.ts'
import { connectRedis } from '../../src/stores/redis.ts'
import {
  kindOf,
  LOW_PRIORITY_KINDS,
  type PartitionKind,
  URGENT_KINDS,
} from '../../src/stream/partitions/partition-of.ts'
import { startIngestLoops } from '../../src/stream/consume/start-ingest-loops.ts'
import { applyBatch } from '../apply-batch.ts'
import { DRY_RUN_SETTINGS } from '../find-poisoned.ts'
import { createSuspects } from '../suspects.ts'
import type { ThreadBody, ThreadTools } from './thread.ts'

/**
 * Opened on demand. Each kind of partition has its own connections, so that a live save never waits for backfill or web
 * events.
 */
const MAX_CONNECTIONS = { live: 16, backfill: 16, web: 4 }

export const runUrgentIngest: ThreadBody = (...run) => runIngest(URGENT_KINDS, ...run)
export const runLowPriorityIngest: ThreadBody = (...run) => runIngest(LOW_PRIORITY_KINDS, ...run)

type Run = Parameters<ThreadBody>

async function runIngest(kinds: readonly PartitionKind[], ...[config, tools, signal]: Run): Promise<void> {
  // Lease renewals do not wait for saves: each save can have one renewal waiting for it.
  const max = kinds.reduce((sum, kind) => sum + MAX_CONNECTIONS[kind], 2)
  const leases = connectPostgres(config.databaseUrl, { max, name: 'sluice-leases' })
  try {
    // Not compared with STREAM_PARTITIONS: the process checked it when it started, and the number may have changed
    // since.
    await readPartitions(leases)
    const open = (kind: PartitionKind) =>
      connectPostgres(config.databaseUrl, { max: MAX_CONNECTIONS[kind], name: `sluice-ingest-${kind}` })
    const saves = { live: open('live'), backfill: open('backfill'), web: open('web') }
    // For live and backfill partitions. The first search for poisoned items opens the connections.
    const dryRuns = connectPostgres(config.databaseUrl, { max: 2, name: 'sluice-dry-runs', settings: DRY_RUN_SETTINGS })
    try {
      await ingest({ kinds, leases, saves, dryRuns }, config, tools, signal)
    } finally {
      // Nothing is running any more, but the driver would wait for a broken connection that has not been used since.
      await Promise.all([...Object.values(saves), dryRuns].map((sql) => sql.end({ timeout: 1 })))
    }
  } finally {
    await leases.end({ timeout: 1 })
  }
}

interface Ingest {
  kinds: readonly PartitionKind[]
  leases: Sql
  saves: Record<PartitionKind, Sql>
  dryRuns: Sql
}

async function ingest(
  { kinds, leases, saves, dryRuns }: Ingest,
  ...[
    { redisUrl, clickhouseUrl, leaseMs, streamKeepMs, backlogLimitBytes },
    { name, log, metrics, reportDegraded, reportBlocked },
    signal,
  ]: Run
): Promise<void> {
  const redis = connectRedis(redisUrl, 'command', log)
  const clickhouse = connectClickHouse(clickhouseUrl)
  const connectReader = () => connectRedis(redisUrl, 'read', log)
  const pipeline = {
    log,
    dryRuns,
    configs: new Map(),
    contactsOf: createContactCaches(),
    suspectsOf: createSuspects(),
    metrics: saveMetrics(metrics),
  }
  const web = { sql: saves.web, clickhouse, log, metrics }
  const loops = startIngestLoops(
    {
      sql: leases,
      redis,
      connectReader,
      apply: (batch, ...rest) =>
        applyBatch({ pipeline: { ...pipeline, sql: saves[kindOf(batch.partition)] }, web }, batch, ...rest),
      log,
      metrics,
    },
    {
      owner: name,
      kinds,
      leaseMs,
      ...(streamKeepMs > 0 && { keep: { ms: streamKeepMs, bytes: backlogLimitBytes / 2 } }),
      signal,
      onHealth({ blocked, degraded }) {
        reportBlocked(blocked)
        reportDegraded(degraded)
      },
    },
  )
  try {
    await loops.done
  } finally {
    redis.disconnect()
    await clickhouse.close()
  }
}

function saveMetrics({ saves }: ThreadTools['metrics']) {
  return {
    saved: () => saves.inc({ outcome: 'applied' }),
    conflict: () => saves.inc({ outcome: 'conflict' }),
  }
}
