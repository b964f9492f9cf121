/** Finds partitions that have work but make no progress, because of a fault in their entries or their worker. */
import type { Sql } from '../../stores/postgres.ts'
import type { Redis } from '../../stores/redis.ts'
import { streamKey } from '../keys.ts'
import { OLDEST_WAIT } from '../lua.ts'
import { runScript } from '../run-script.ts'

/** A partition with waiting entries is stalled when its position has not moved for this long. */
export const STALLED_MS = 30_000

export interface StalledPartition {
  partition: string
  /** Seconds for which entries have waited while the position has not moved. */
  seconds: number
}

/** Uses the clocks of the stores. Idle partitions are not stalled. */
export async function findStalled({ sql, redis }: { sql: Sql; redis: Redis }): Promise<StalledPartition[]> {
  const unmoved = await sql<{ partition: string; position: string; ms: number }[]>`
    select partition, position, (extract(epoch from now() - moved_at) * 1000)::float8 as ms from positions
    where moved_at < now() - ${STALLED_MS} * interval '1 millisecond' order by partition`
  const waiting = await Promise.all(
    unmoved.map(async ({ partition, position, ms }) => {
      const waitedMs = Number(await runScript(redis, OLDEST_WAIT, [streamKey(partition)], [position]))
      return { partition, ms: Math.min(ms, waitedMs) }
    }),
  )
  return waiting
    .filter(({ ms }) => ms >= STALLED_MS)
    .map(({ partition, ms }) => ({ partition, seconds: Math.floor(ms / 1000) }))
}
