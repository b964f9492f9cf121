/** The gauges that lie in the stores, read when somebody asks for metrics. What a store does not tell is left as it was last seen. */
import { observeDeliveries } from '../../deliveries/observe-deliveries.ts'
import { backlogKey, streamKey } from '../../stream/keys.ts'
import { readPositions } from '../../stream/positions.ts'
import { findStalled } from '../../stream/stalled-partitions.ts'
import { describeDurability, readDurability } from '../../stores/redis-durability.ts'
import { readPersistence } from '../../stream/read-persistence.ts'
import { observeOutbox } from '../../timeline/observe-outbox.ts'
import { askStore } from '../access/query-store.ts'
import type { Door } from '../app-context.ts'

export async function observeStores(door: Door): Promise<void> {
  await Promise.all([
    observe(door, 'postgres', () => observePostgres(door)),
    observe(door, 'redis', () => observeRedis(door)),
    observe(door, 'clickhouse', () => observeClickHouse(door)),
    // Postgres knows the partitions and Redis their streams: who of them is away is told above.
    askStore(() => observeBacklogs(door)).catch(() => undefined),
    observeDisks(door),
  ])
}

/** One store that is away does not hide the others. */
async function observe(door: Door, store: string, look: () => Promise<void>): Promise<void> {
  try {
    await askStore(look)
    door.metrics.storeUp.set({ store }, 1)
  } catch (error) {
    door.metrics.storeUp.set({ store }, 0)
    door.log.warn({ err: error, store }, 'a store could not be observed')
  }
}

async function observePostgres({ sql, metrics }: Door): Promise<void> {
  await observeOutbox(sql, metrics)
  await observeDeliveries(sql, metrics)
  const [letters] = await sql<{ count: number }[]>`select count(*) as count from dead_letters`
  metrics.deadLetters.set(letters?.count ?? 0)
}

async function observeRedis(door: Door): Promise<void> {
  for (const [part, isWell] of Object.entries(await readPersistence(door.redis))) {
    door.metrics.redisPersistence.set({ part }, isWell ? 1 : 0)
  }
  door.metrics.redisDurable.set(describeDurability(await readDurability(door.redis)).length === 0 ? 1 : 0)
}

async function observeBacklogs(door: Door): Promise<void> {
  const positions = await readPositions(door.sql)
  const backlogs = await Promise.all([...positions.keys()].map((partition) => readBacklog(door, partition)))
  // Those that a change of their number took away are not told of any more.
  door.metrics.backlogBytes.reset()
  door.metrics.backlogAgeSeconds.reset()
  const stalled = new Map((await findStalled(door)).map(({ partition, seconds }) => [partition, seconds]))
  door.metrics.stalledSeconds.reset()
  for (const { partition, bytes, ageMs } of backlogs) {
    door.metrics.stalledSeconds.set({ partition }, stalled.get(partition) ?? 0)
    door.metrics.backlogBytes.set({ partition }, bytes)
    door.metrics.backlogAgeSeconds.set({ partition }, ageMs / 1000)
  }
}

/**
 * An entry is as old as the first request in it. The first half of its id may be anything after a clock was set back; it
 * serves for an entry that no front door wrote.
 */
async function readBacklog({ redis, now }: Door, partition: string) {
  const [bytes, [oldest]] = await Promise.all([
    redis.hget(backlogKey(partition), 'total'),
    redis.xrange(streamKey(partition), '-', '+', 'COUNT', 1),
  ])
  const [id, fields] = oldest ?? [String(now()), []]
  const receivedAt = Number(/"receivedAt":(\d+)/.exec(fields[1] ?? '')?.[1] ?? id.split('-')[0])
  return { partition, bytes: Number(bytes ?? 0), ageMs: Math.max(0, now() - receivedAt) }
}

async function observeClickHouse({ clickhouse }: Door): Promise<void> {
  const ping = await clickhouse.ping({ select: true })
  if (!ping.success) throw ping.error
}

async function observeDisks({ readDisks, metrics }: Door): Promise<void> {
  for (const { store, freeBytes } of await readDisks()) metrics.storeDiskFree.set({ store }, freeBytes)
}
