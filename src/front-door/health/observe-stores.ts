/**
 * Sets the gauges whose values come from the stores, for each scrape. The gauges of a store that does not answer keep
 * their last values.
 */
import { observeDeliveries } from '../../deliveries/observe-deliveries.ts'
import { findStalled } from '../../stream/consume/stalled-partitions.ts'
import { describeDurability, readDurability } from '../../stores/redis-durability.ts'
import { readPersistence } from '../../stream/read-persistence.ts'
import { observeOutbox } from '../../timeline/shipping/observe-outbox.ts'
import { queryStore } from '../access/query-store.ts'
import { STORES } from '../../rules/lateness.ts'
import type { AppContext } from '../app-context.ts'
import { readBacklogs } from './read-backlogs.ts'

export async function observeStores(app: AppContext): Promise<void> {
  observeLateness(app)
  await Promise.all([
    observe(app, 'postgres', () => observePostgres(app)),
    observe(app, 'redis', () => observeRedis(app)),
    observe(app, 'clickhouse', () => observeClickHouse(app)),
    // This needs Postgres and Redis. Their `store_up` reports which of them does not answer.
    queryStore(() => observeBacklogs(app)).catch(() => undefined),
    observeDisks(app),
  ])
}

/** The failure of one store does not affect the gauges of the others. */
async function observe(app: AppContext, store: string, read: () => Promise<void>): Promise<void> {
  try {
    await queryStore(read)
    app.metrics.storeUp.set({ store }, 1)
  } catch (error) {
    app.metrics.storeUp.set({ store }, 0)
    app.log.warn({ err: error, store }, 'the metrics of a store could not be read')
  }
}

async function observePostgres({ sql, metrics }: AppContext): Promise<void> {
  await observeOutbox(sql, metrics)
  await observeDeliveries(sql, metrics)
  const [letters] = await sql<{ count: number }[]>`select count(*) as count from dead_letters`
  metrics.deadLetters.set(letters?.count ?? 0)
}

async function observeRedis(app: AppContext): Promise<void> {
  for (const [part, isHealthy] of Object.entries(await readPersistence(app.redis))) {
    app.metrics.redisPersistence.set({ part }, isHealthy ? 1 : 0)
  }
  app.metrics.redisDurable.set(describeDurability(await readDurability(app.redis)).length === 0 ? 1 : 0)
}

async function observeBacklogs(app: AppContext): Promise<void> {
  const backlogs = await readBacklogs(app)
  // Removes partitions that no longer exist after their number changed.
  app.metrics.backlogBytes.reset()
  app.metrics.backlogAgeSeconds.reset()
  app.metrics.keptBytes.reset()
  const stalled = new Map((await findStalled(app)).map(({ partition, seconds }) => [partition, seconds]))
  app.metrics.stalledSeconds.reset()
  for (const { partition, bytes, ageMs, keptBytes } of backlogs) {
    app.metrics.stalledSeconds.set({ partition }, stalled.get(partition) ?? 0)
    app.metrics.backlogBytes.set({ partition }, bytes)
    app.metrics.keptBytes.set({ partition }, keptBytes)
    app.metrics.backlogAgeSeconds.set({ partition }, ageMs / 1000)
  }
}

async function observeClickHouse({ clickhouse }: AppContext): Promise<void> {
  const ping = await clickhouse.ping({ select: true })
  if (!ping.success) throw ping.error
}

function observeLateness({ storeWatch, metrics, now }: AppContext): void {
  for (const store of STORES) {
    const since = storeWatch.lateSince(store)
    metrics.storeLateSeconds.set({ store }, since === null ? 0 : Math.max(0, now() - since) / 1000)
  }
}

async function observeDisks({ readDisks, metrics }: AppContext): Promise<void> {
  for (const { store, freeBytes } of await readDisks()) metrics.storeDiskFree.set({ store }, freeBytes)
}
