/** The gauges that lie in the stores, read when somebody asks for metrics. */
import { backlogKey, streamKey } from '../stream/keys.ts'
import { readPositions } from '../stream/positions.ts'
import { observeOutbox } from '../timeline/observe.ts'
import type { Door } from './door.ts'

export async function observeStores(door: Door): Promise<void> {
  await observeOutbox(door.sql, door.metrics)
  const [letters] = await door.sql<{ count: number }[]>`select count(*) as count from dead_letters`
  door.metrics.deadLetters.set(letters?.count ?? 0)
  const partitions = [...(await readPositions(door.sql)).keys()]
  await Promise.all(partitions.map((partition) => observeBacklog(door, partition)))
}

/** The first half of a stream id is when its entry was appended, by the clock of Redis. */
async function observeBacklog({ redis, metrics, now }: Door, partition: string): Promise<void> {
  const [bytes, [oldest]] = await Promise.all([
    redis.hget(backlogKey(partition), 'total'),
    redis.xrange(streamKey(partition), '-', '+', 'COUNT', 1),
  ])
  const appendedAt = oldest === undefined ? now() : Number(oldest[0].split('-')[0])
  metrics.backlogBytes.set({ partition }, Number(bytes ?? 0))
  metrics.backlogAgeSeconds.set({ partition }, Math.max(0, now() - appendedAt) / 1000)
}
