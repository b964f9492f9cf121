/** Gauges whose values are in the stores, read for each scrape. When a store does not answer, its gauges keep their last values. */
import { observeDeliveries } from '../../deliveries/observe-deliveries.ts'
import { backlogKey, streamKey } from '../../stream/keys.ts'
import { readPositions } from '../../stream/positions.ts'
import { findStalled } from '../../stream/stalled-partitions.ts'
import { describeDurability, readDurability } from '../../stores/redis-durability.ts'
import { readPersistence } from '../../stream/read-persistence.ts'
import { observeOutbox } from '../../timeline/observe-outbox.ts'
import { queryStore } from '../access/query-store.ts'
import type { AppContext } from '../app-context.ts'

export async function observeStores(app: AppContext): Promise<void> {
  await Promise.all([
    observe(app, 'postgres', () => observePostgres(app)),
    observe(app, 'redis', () => observeRedis(app)),
    observe(app, 'clickhouse', () => observeClickHouse(app)),
    // This needs Postgres and Redis. `store_up` above reports which of them does not answer.
    queryStore(() => observeBacklogs(app)).catch(() => undefined),
    observeDisks(app),
  ])
}

/** The failure of one store does not affect the gauges of the others. */
async function observe(app: AppContext, store: string, look: () => Promise<void>): Promise<void> {
  try {
    await queryStore(look)
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
  for (const [part, isWell] of Object.entries(await readPersistence(app.redis))) {
    app.metrics.redisPersistence.set({ part }, isWell ? 1 : 0)
  }
  app.metrics.redisDurable.set(describeDurability(await readDurability(app.redis)).length === 0 ? 1 : 0)
}

async function observeBacklogs(app: AppContext): Promise<void> {
  const positions = await readPositions(app.sql)
  const backlogs = await Promise.all([...positions.keys()].map((partition) => readBacklog(app, partition)))
  // Removes partitions that no longer exist after a change of their number.
  app.metrics.backlogBytes.reset()
  app.metrics.backlogAgeSeconds.reset()
  const stalled = new Map((await findStalled(app)).map(({ partition, seconds }) => [partition, seconds]))
  app.metrics.stalledSeconds.reset()
  for (const { partition, bytes, ageMs } of backlogs) {
    app.metrics.stalledSeconds.set({ partition }, stalled.get(partition) ?? 0)
    app.metrics.backlogBytes.set({ partition }, bytes)
    app.metrics.backlogAgeSeconds.set({ partition }, ageMs / 1000)
  }
}

/**
 * The age of an entry is that of the first request in it. The time in the entry's id is wrong after a clock was set back; it
 * is used only for an entry that no front door wrote.
 */
async function readBacklog({ redis, now }: AppContext, partition: string) {
  const [bytes, [oldest]] = await Promise.all([
    redis.hget(backlogKey(partition), 'total'),
    redis.xrange(streamKey(partition), '-', '+', 'COUNT', 1),
  ])
  const [id, fields] = oldest ?? [String(now()), []]
  const receivedAt = Number(/"receivedAt":(\d+)/.exec(fields[1] ?? '')?.[1] ?? id.split('-')[0])
  return { partition, bytes: Number(bytes ?? 0), ageMs: Math.max(0, now() - receivedAt) }
}

async function observeClickHouse({ clickhouse }: AppContext): Promise<void> {
  const ping = await clickhouse.ping({ select: true })
  if (!ping.success) throw ping.error
}

async function observeDisks({ readDisks, metrics }: AppContext): Promise<void> {
  for (const { store, freeBytes } of await readDisks()) metrics.storeDiskFree.set({ store }, freeBytes)
}
