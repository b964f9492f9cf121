/** The front door: everything it needs, built once, and an open port. */
import { type Config, resolveStores } from '../config.ts'
import { readDisks } from '../embedded/read-disks.ts'
import { buildApp } from './app.ts'
import type { AppContext } from './app-context.ts'
import { batchLookups } from './access/batch-lookups.ts'
import { checkReadiness } from './health/check-readiness.ts'
import { findBusinesses, findKeyHolders } from './access/find-business.ts'
import { createRateLimiter } from './access/rate-limiter.ts'
import { createCachedLookup } from './access/cached-lookup.ts'
import { MAX_CONCURRENT, createConcurrencyLimit } from './access/concurrency-limit.ts'
import { serve } from './http/serve.ts'
import { shareReadiness } from './health/share-readiness.ts'
import { createLogThrottle } from '../process/log-throttle.ts'
import { createLogger, type Logger } from '../log.ts'
import { createMetrics } from '../metrics.ts'
import { readPartitions } from '../migrate/migrate.ts'
import { connectClickHouse } from '../stores/clickhouse.ts'
import { connectPostgres } from '../stores/postgres.ts'
import { connectRedis, whenReady } from '../stores/redis.ts'
import { requireDurableRedis } from '../stores/redis-durability.ts'
import { withStoreName } from '../stores/require-stores.ts'
import { createSubmitter, type Submitter } from '../stream/submit.ts'

/** On top of the longest wait for an answer. */
const SPARE_MS = 5_000
const SETTLE_MS = 2_000

export interface FrontDoor {
  url: string
  /** Answers what is under way, then lets everything go. */
  close(): Promise<void>
}

/** Rejects when the stores are not there, not migrated, or the port cannot be had. */
export async function runFrontDoor(config: Config): Promise<FrontDoor> {
  const log = createLogger({ level: config.logLevel, name: 'front-door' })
  const stores = await openStores(config, log)
  const metrics = createMetrics()
  const limiter = createRateLimiter(
    { redis: stores.redis.limiter, metrics, log },
    { timeoutMs: config.rateLimitTimeoutMs },
  )
  let submitter: Submitter | undefined
  const releaseBodyMemory = async () => {
    await limiter.close()
    await submitter?.close()
    await stores.close()
  }
  try {
    await readPartitions(stores.sql, config.streamPartitions).catch((error: unknown) => {
      throw withStoreName(config, 'databaseUrl', stores.urls.databaseUrl, error)
    })
    submitter = createSubmitter({ sql: stores.quick, redis: stores.redis, log }, config)
    const app = openFrontDoor(config, stores, { submitter, limiter, metrics, log })
    await Promise.all([settle(stores, submitter), requireDurableRedis(config, stores.urls.redisUrl)])
    const { port, host, reusePort, answerTimeoutMs } = config
    const idleSeconds = Math.ceil((answerTimeoutMs + SPARE_MS) / 1000)
    const listening = await serve(buildApp(app), { port, host, reusePort, idleSeconds })
    log.info({ url: listening.url }, 'the front door is open')
    return {
      url: listening.url,
      async close() {
        await listening.close(answerTimeoutMs + SPARE_MS)
        await releaseBodyMemory()
      },
    }
  } catch (error) {
    await releaseBodyMemory()
    throw error
  }
}

/** A door that opens a moment too early refuses its first callers. Without Redis it opens all the same, and says so to each. */
async function settle({ redis }: Stores, submitter: Submitter): Promise<void> {
  const deadline = Date.now() + SETTLE_MS
  await Promise.allSettled(Object.values(redis).map((connection) => whenReady(connection, SETTLE_MS)))
  while (!submitter.isOpen() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5))
}

type Stores = Awaited<ReturnType<typeof openStores>>

async function openStores(config: Config, log: Logger) {
  const urls = await resolveStores(config)
  const { databaseUrl, redisUrl, clickhouseUrl } = urls
  const sql = connectPostgres(databaseUrl, { name: 'sluice-front-door' })
  // Who calls, and how far workers are: what every event needs never queues behind somebody's slow read.
  const quick = connectPostgres(databaseUrl, { max: 2, name: 'sluice-callers' })
  const clickhouse = connectClickHouse(clickhouseUrl)
  const redis = {
    publish: connectRedis(redisUrl, 'publish', log),
    subscribe: connectRedis(redisUrl, 'subscribe', log),
    command: connectRedis(redisUrl, 'command', log),
    limiter: connectRedis(redisUrl, 'limiter', log),
  }
  const close = async () => {
    for (const connection of Object.values(redis)) connection.disconnect()
    await Promise.all([sql.end({ timeout: 1 }), quick.end({ timeout: 5 }), clickhouse.close()])
  }
  return { urls, sql, quick, clickhouse, redis, close }
}

const monotonicNow = () => performance.now()

type Parts = Pick<AppContext, 'limiter' | 'metrics' | 'log'> & { submitter: Submitter }

function openFrontDoor(config: Config, stores: Stores, parts: Parts): AppContext {
  const { urls, sql, quick, clickhouse, redis } = stores
  const asked = { sql, redis: redis.command, clickhouse, readDisks: () => readDisks(config.dataDir, urls) }
  return {
    ...parts,
    ...asked,
    config,
    mayLogRejection: createLogThrottle(parts.log, monotonicNow),
    readReadiness: shareReadiness((isOpen) => checkReadiness(asked, isOpen), parts.submitter.isOpen, monotonicNow),
    keyHolders: createCachedLookup(
      batchLookups((hashes) => findKeyHolders(quick, hashes)),
      monotonicNow,
    ),
    businesses: createCachedLookup(
      batchLookups((ids) => findBusinesses(quick, ids)),
      monotonicNow,
    ),
    inFlight: { count: 0, bytes: 0, bytesOf: new Map() },
    slots: { read: createConcurrencyLimit(MAX_CONCURRENT.read), change: createConcurrencyLimit(MAX_CONCURRENT.change) },
    now: Date.now,
  }
}
