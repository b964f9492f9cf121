/** Starts a front door: builds everything that it needs and opens the port. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createSystemMailer } from '../accounts/system-mail.ts'
import { createBacktests } from '../campaigns/backtest/backtests.ts'
import { createCallBacklog } from '../calls/backlog.ts'
import { type SettledCalls, listenForSettledCalls } from '../calls/settled-calls.ts'
import { type KeyUse, createKeyUse } from '../businesses/key-use.ts'
import type { Config } from '../config.ts'
import { findAnalystUrl, resolveStores } from '../stores/data-dir.ts'
import { readDisks } from '../embedded/read-disks.ts'
import { buildApp } from './app.ts'
import { type BoardMail, runBoardMail } from '../analytics/boards/mail/run-board-mail.ts'
import type { AppContext } from './app-context.ts'
import { batchLookups } from './access/batch-lookups.ts'
import { checkReadiness } from './health/check-readiness.ts'
import { findBusinesses, findKeyHolders } from '../businesses/find-business.ts'
import { createAddressLimit } from './access/address-limit.ts'
import { createRateLimiter } from './access/rate-limiter.ts'
import { createCachedLookup } from './access/cached-lookup.ts'
import {
  MAX_CONCURRENT,
  MAX_WAITING_COSTLY,
  WAIT_TIMEOUT_MS,
  createConcurrencyLimit,
} from './access/concurrency-limit.ts'
import { LONGEST_QUERY_MS } from '../analytics/read-rows.ts'
import { type RequestRecorder, recordRequests } from '../request-log/record-requests.ts'
import { type VisitBuffer, createVisitBuffer } from './routes/tracking/buffer-visits.ts'
import { serve } from './http/serve.ts'
import { createStoreMeter } from './health/measure-stores.ts'
import { PATIENCE_MS, watchStores } from './health/watch-stores.ts'
import { shareReadiness } from './health/share-readiness.ts'
import { createVerifier } from '../verify-runs/run-verify.ts'
import { createRenderService } from '../messages/templates/renderer.ts'
import { createLogThrottle } from '../process/log-throttle.ts'
import { createLogger, type Logger } from '../log.ts'
import { createMetrics } from '../metrics.ts'
import { readPartitions } from '../migrate/migrate.ts'
import { guardOf } from '../outbound/target-guard.ts'
import { connectClickHouse } from '../stores/clickhouse.ts'
import { connectPostgres } from '../stores/postgres.ts'
import { connectRedis, whenReady } from '../stores/redis.ts'
import { requireDurableRedis } from '../stores/redis-durability.ts'
import { requirePrimaryPostgres, withStoreName } from '../stores/require-stores.ts'
import { createWaker } from '../stores/wake-ups.ts'
import { createSubmitter, type Submitter } from '../stream/publish/submit.ts'
import { STATEMENT_LIMITS } from '../rules/statement-limits.ts'
import { type StatementRunner, createStatementRunner } from '../analytics/sql-page/statement-runner.ts'

/** A chart first waits for a slot. */
const LONGEST_READ_MS = WAIT_TIMEOUT_MS + LONGEST_QUERY_MS
/** Milliseconds added to the longest wait for an answer. */
const MARGIN_MS = 5_000
const SETTLE_MS = 2_000
/** Load balancers ask every few seconds whether a front door is ready. */
const DRAIN_MS = 5_000
/** Seconds for an answer of a slow route. A statement of the SQL page may first wait for a slot. */
const SLOW_SECONDS = STATEMENT_LIMITS.seconds + 15

export interface FrontDoor {
  url: string
  /** Says for DRAIN_MS that it is about to close, then answers the requests in flight and closes all connections. */
  close(): Promise<void>
}

/** Rejects when a store is not reachable or not migrated, or the port is not available. */
export async function runFrontDoor(config: Config): Promise<FrontDoor> {
  const log = createLogger({ level: config.logLevel, name: 'front-door' })
  const stores = await openStores(config, log)
  const metrics = createMetrics()
  const limiter = createRateLimiter(
    { redis: stores.redis.limiter, metrics, log },
    { timeoutMs: config.rateLimitTimeoutMs },
  )
  const mailer = createSystemMailer(config)
  const renderer = createRenderService()
  const recorder = recordRequests({ redis: stores.redis.command, log, dropped: metrics.requestsDropped })
  const keyUse = createKeyUse({ sql: stores.sql, log })
  const verifier = createVerifier({ sql: stores.sql, log, urls: stores.urls, dataDir: config.dataDir })
  const { sql, clickhouse, redis } = stores
  const storeWatch = watchStores({ ...stores, redis: redis.command, clickhouse: stores.probe, log })
  const backtests = createBacktests({ sql, clickhouse, redis: redis.command, log, now: Date.now })
  const settledCalls = listenForSettledCalls(redis.subscribe, log)
  const addressLimit = createAddressLimit({ redis: redis.limiter, metrics, log }, config.rateLimitTimeoutMs)
  let submitter: Submitter | undefined
  let visits: VisitBuffer | undefined
  let boardMail: BoardMail | undefined
  const closeAll = async () => {
    // Visits that are still held need the limiter and the stream.
    await visits?.close()
    storeWatch.close()
    await backtests.close()
    await boardMail?.close()
    mailer?.close()
    await renderer.close()
    await recorder.close()
    await verifier.close()
    keyUse.close()
    settledCalls.close()
    await submitter?.close()
    await stores.close()
  }
  try {
    await requirePrimaryPostgres(config, stores.urls.databaseUrl)
    await readPartitions(stores.sql, config.streamPartitions).catch((error: unknown) => {
      throw withStoreName(config, 'databaseUrl', stores.urls.databaseUrl, error)
    })
    submitter = createSubmitter({ sql: stores.quick, redis: stores.redis, log }, config)
    visits = createVisitBuffer({ sql: stores.quick, redis: stores.redis.command, limiter, submitter, log })
    const { urls } = stores
    const runStatement = createStatementRunner({
      clickhouse,
      clickhouseUrl: urls.clickhouseUrl,
      analystUrl: await findAnalystUrl(config, urls.clickhouseUrl),
      analystPassword: config.analystPassword,
      log,
    })
    const app = createAppContext(config, stores, {
      submitter,
      visits,
      limiter,
      addressLimit,
      settledCalls,
      mailer,
      renderer,
      backtests,
      recorder,
      keyUse,
      verifier,
      storeWatch,
      runStatement,
      metrics,
      log,
    })
    await Promise.all([waitUntilOpen(stores, submitter), requireDurableRedis(config, stores.urls.redisUrl)])
    const { publicUrl } = config
    if (mailer !== undefined && publicUrl !== undefined)
      boardMail = runBoardMail({ ...app, mailer, publicUrl }, app.now)
    const { port, host, reusePort, answerTimeoutMs } = config
    const longestMs = Math.max(answerTimeoutMs, LONGEST_READ_MS) + MARGIN_MS
    const listening = await serve(buildApp(app), {
      port,
      host,
      reusePort,
      idleSeconds: Math.ceil(longestMs / 1000),
      slowSeconds: SLOW_SECONDS,
    })
    log.info({ url: listening.url }, 'the front door is open')
    return {
      url: listening.url,
      async close() {
        app.draining.begun = true
        listening.beginDrain()
        await sleep(config.drainMs ?? DRAIN_MS)
        await listening.close(longestMs)
        await closeAll()
      },
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

/**
 * Waits until the submitter is open, so that the first callers are not rejected. Without Redis it stops waiting after 2
 * s, and callers get 503.
 */
async function waitUntilOpen({ redis }: Stores, submitter: Submitter): Promise<void> {
  const deadline = Date.now() + SETTLE_MS
  await Promise.allSettled(Object.values(redis).map((connection) => whenReady(connection, SETTLE_MS)))
  while (!submitter.isOpen() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5))
}

type Stores = Awaited<ReturnType<typeof openStores>>

async function openStores(config: Config, log: Logger) {
  const urls = await resolveStores(config)
  const { databaseUrl, redisUrl, clickhouseUrl } = urls
  const sql = connectPostgres(databaseUrl, { name: 'sluice-front-door' })
  // Separate connections for keys, sessions and worker positions: every request needs them, and they must not wait
  // behind slow reads.
  const quick = connectPostgres(databaseUrl, { max: 2, name: 'sluice-callers' })
  const clickhouse = connectClickHouse(clickhouseUrl)
  // A separate connection to measure how fast ClickHouse answers: slow queries may occupy all others.
  const probe = connectClickHouse(clickhouseUrl, { requestTimeoutMs: PATIENCE_MS })
  const redis = {
    publish: connectRedis(redisUrl, 'publish', log),
    subscribe: connectRedis(redisUrl, 'subscribe', log),
    command: connectRedis(redisUrl, 'command', log),
    limiter: connectRedis(redisUrl, 'limiter', log),
  }
  const close = async () => {
    for (const connection of Object.values(redis)) connection.disconnect()
    await Promise.all([sql.end({ timeout: 1 }), quick.end({ timeout: 5 }), clickhouse.close(), probe.close()])
  }
  return { urls, sql, quick, clickhouse, probe, redis, close }
}

const monotonicNow = () => performance.now()

type Parts = Pick<
  AppContext,
  'limiter' | 'addressLimit' | 'mailer' | 'renderer' | 'backtests' | 'verifier' | 'storeWatch' | 'metrics' | 'log'
> & {
  submitter: Submitter
  visits: VisitBuffer
  recorder: RequestRecorder
  keyUse: KeyUse
  settledCalls: SettledCalls
  runStatement: StatementRunner
}

function createAppContext(config: Config, stores: Stores, parts: Parts): AppContext {
  const { urls, sql, quick, clickhouse, redis } = stores
  const storeAccess = { sql, quick, redis: redis.command, clickhouse, readDisks: () => readDisks(config.dataDir, urls) }
  const readinessDeps = { ...storeAccess, storeWatch: parts.storeWatch }
  return {
    ...parts,
    ...storeAccess,
    config,
    callBacklog: createCallBacklog(quick, config.backlogLimitBytes),
    wake: createWaker(redis.publish, parts.log),
    measureStores: createStoreMeter(storeAccess),
    guard: guardOf({ ...config, ...urls }, sql),
    mayLogRejection: createLogThrottle(parts.log, monotonicNow),
    readReadiness: shareReadiness(
      (isOpen) => checkReadiness(readinessDeps, isOpen),
      parts.submitter.isOpen,
      monotonicNow,
    ),
    keyHolders: createCachedLookup(
      batchLookups(async (hashes) => {
        const found = await findKeyHolders(quick, hashes)
        for (const { keyId } of found.values()) parts.keyUse.note(keyId)
        return found
      }),
      monotonicNow,
    ),
    businesses: createCachedLookup(
      batchLookups((ids) => findBusinesses(quick, ids)),
      monotonicNow,
    ),
    draining: { begun: false },
    inFlight: { count: 0, bytes: 0, bytesOf: new Map() },
    slots: {
      read: createConcurrencyLimit(MAX_CONCURRENT.read),
      dashboard: createConcurrencyLimit(MAX_CONCURRENT.dashboard),
      costly: createConcurrencyLimit(MAX_CONCURRENT.costly, {
        maxWaiting: MAX_WAITING_COSTLY,
        lateCode: 'rate_limited',
      }),
      statement: createConcurrencyLimit(MAX_CONCURRENT.statement, {
        maxWaiting: MAX_WAITING_COSTLY,
        lateCode: 'rate_limited',
      }),
      change: createConcurrencyLimit(MAX_CONCURRENT.change),
      test: createConcurrencyLimit(MAX_CONCURRENT.test),
      page: createConcurrencyLimit(MAX_CONCURRENT.page),
      callback: createConcurrencyLimit(MAX_CONCURRENT.callback),
    },
    now: Date.now,
  }
}
