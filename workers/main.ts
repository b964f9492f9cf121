/**
 * The workers' supervisor: runs threads for live events and threads for work that can wait, and serves their health and
 * metrics.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { AggregatorRegistry } from 'prom-client'
import type { Config } from '../src/config.ts'
import { resolveStores } from '../src/stores/data-dir.ts'
import { createLogger } from '../src/log.ts'
import { createMetrics } from '../src/metrics.ts'
import { readPartitions } from '../src/migrate/migrate.ts'
import { connectPostgres } from '../src/stores/postgres.ts'
import { requireDurableRedis } from '../src/stores/redis-durability.ts'
import { requirePrimaryPostgres, withStoreName } from '../src/stores/require-stores.ts'
import { type SupervisedThread, type ThreadKind, createPool, superviseThread } from './pool.ts'
import { serveHealth } from './serve-health.ts'

/** A thread that has reported nothing for this long is not healthy. */
const SILENT_MS = 5000
const CLOSE_MS = 15_000
/** Niceness of threads whose work can wait. On a busy machine live events come first (design, promise 8). */
const LOW_PRIORITY_NICENESS = 10

export interface Workers {
  /** Port of /metrics, /healthz and /readyz; undefined when they are not served. */
  port: number | undefined
  /** Finishes running saves, releases the leases and ends the threads. */
  close(): Promise<void>
}

/**
 * Starts the workers. Rejects when the stores are unreachable or not migrated, when STREAM_PARTITIONS differs from
 * Postgres, or when WORKERS_PORT is in use. Later, threads that die are restarted.
 */
export async function runWorkers(config: Config): Promise<Workers> {
  const log = createLogger({ level: config.logLevel, name: 'workers' })
  const found = { ...config, ...(await resolveStores(config)) }
  await requirePrimaryPostgres(config, found.databaseUrl)
  await checkPartitions(config, found.databaseUrl)
  const ofRedis = await requireDurableRedis(config, found.redisUrl)
  const threads: SupervisedThread[] = []
  // Comes first because it can fail, and no thread is running yet that would have to be stopped.
  const health = await startHealthServer(threads, ofRedis, config)
  const self = config.workerName ?? `${hostname()}-${randomUUID().slice(0, 8)}`
  const startPool = (niceness: number, kinds: ThreadKind[]) => {
    const pool = createPool(kinds.length, niceness)
    for (const [at, kind] of kinds.entries()) {
      threads.push(superviseThread(pool, { kind, name: `${self}-${kind}-${at}`, config: found, log }))
    }
    return pool
  }
  const ofEach = (kind: ThreadKind) => Array.from({ length: config.workerThreads }, () => kind)
  const pools = [
    startPool(0, ofEach('ingest')),
    startPool(LOW_PRIORITY_NICENESS, [
      ...ofEach('lowPriorityIngest'),
      'timeline',
      'segments',
      'campaigns',
      'deliveries',
    ]),
  ]

  return {
    port: health?.port,
    async close() {
      await within(CLOSE_MS, Promise.all(threads.map((thread) => thread.stop())))
      await health?.close()
      await Promise.all(pools.map((pool) => pool.destroy()))
    },
  }
}

async function checkPartitions(config: Config, databaseUrl: string): Promise<void> {
  const sql = connectPostgres(databaseUrl, { max: 1, name: 'sluice-workers' })
  try {
    await readPartitions(sql, config.streamPartitions)
  } catch (error) {
    throw withStoreName(config, 'databaseUrl', databaseUrl, error)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function startHealthServer(threads: SupervisedThread[], known: string[], config: Config) {
  if (config.workerMetricsPort === undefined) return undefined
  const { registry } = createMetrics()
  const sources = {
    problems: () => [
      ...threads.filter(isSilent).map(describeSilent),
      ...threads.flatMap((thread) => describeBlocked(thread) ?? []),
    ],
    degraded: () => [...known, ...threads.flatMap((thread) => thread.report()?.trouble ?? [])],
    metrics: async () => {
      const figures = await Promise.all(threads.map((thread) => thread.metrics()))
      return AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), ...figures]).metrics()
    },
    metricsToken: config.metricsToken,
  }
  return serveHealth(sources, config.host, config.workerMetricsPort)
}

const describeSilent = (thread: SupervisedThread): string =>
  thread.report()
    ? `${thread.name} has reported nothing for ${SILENT_MS} ms`
    : `${thread.name} has reported nothing yet`

const describeBlocked = (thread: SupervisedThread): string | undefined => {
  const blocked = thread.report()?.blocked
  return blocked === undefined ? undefined : `${thread.name}: ${blocked}`
}

const isSilent = (thread: SupervisedThread): boolean =>
  (thread.report()?.at ?? -Infinity) < performance.now() - SILENT_MS

/** Abandons work that is not done in time. This loses nothing. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise((resolve) => (timer = setTimeout(resolve, ms)))
  await Promise.race([work, late])
  clearTimeout(timer)
}
