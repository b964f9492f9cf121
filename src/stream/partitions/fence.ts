/**
 * A partition's fence is the lowest version of the partition map that an append may use. It only rises and is never
 * removed. So it refuses every front door that has not read a change, even a change made long ago.
 */
import type { Redis } from '../../stores/redis.ts'
import { fenceKey, keptKey, streamKey } from '../keys.ts'
import { FENCE } from '../lua.ts'
import { isRefusal, runScript } from '../run-script.ts'
import { FIRST_ID } from '../stream-id.ts'

export interface PartitionBacklog {
  partition: string
  /** Number of entries that Postgres has not applied. */
  waiting: number
  /** Age of the oldest entry, by the clock of Redis. */
  ageMs: number
  /** Set only when no entry waits. */
  lastId: string
}

/**
 * Raises the fences to the version (0: leaves them), and returns the backlog behind them at that moment: what comes
 * after the positions in Postgres. What Redis knows as applied may be lost there.
 */
export async function raiseFences(
  redis: Redis,
  partitions: string[],
  version: number,
  positions: ReadonlyMap<string, string>,
): Promise<PartitionBacklog[]> {
  return await Promise.all(
    partitions.map(async (partition) => {
      const keys = [streamKey(partition), fenceKey(partition), keptKey(partition)]
      const [waiting, ageMs, lastId] = (await runScript(redis, FENCE, keys, [
        version,
        positions.get(partition) ?? FIRST_ID,
      ])) as [number, number, string]
      return { partition, waiting, ageMs, lastId: lastId || FIRST_ID }
    }),
  )
}

/** Returns the version that an append would have needed; undefined when the append failed for another reason. */
export function fenceOf(error: unknown): number | undefined {
  const [, fence] = (isRefusal(error) && /^FENCED (\d+)/.exec(error.message)) || []
  return fence === undefined ? undefined : Number(fence)
}
