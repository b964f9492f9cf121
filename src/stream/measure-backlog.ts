import type { Redis } from '../stores/redis.ts'
import { backlogKey, streamKey } from './keys.ts'
import { timeOfId } from './stream-id.ts'

export interface WaitingBacklog {
  partition: string
  /** Of requests that are not applied yet. */
  bytes: number
  /** Since the oldest waiting entry was appended, by this machine's clock; 0 when none waits. */
  ageSeconds: number
}

/** What waits in each partition. `redis` in the role `command`. */
export function measureBacklog(redis: Redis, partitions: string[]): Promise<WaitingBacklog[]> {
  return Promise.all(
    partitions.map(async (partition) => {
      const [bytes, oldest] = await Promise.all([
        redis.hget(backlogKey(partition), 'total'),
        redis.xrange(streamKey(partition), '-', '+', 'COUNT', 1),
      ])
      const id = oldest[0]?.[0]
      const ageSeconds = id === undefined ? 0 : Math.max(0, Date.now() - timeOfId(id)) / 1000
      return { partition, bytes: Number(bytes ?? 0), ageSeconds }
    }),
  )
}
