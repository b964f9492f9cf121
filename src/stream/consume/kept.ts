/**
 * What the streams still keep of applied entries, and whether Postgres is older than that. After a failover to a server
 * that lacks the last commits, the position of a partition is before the last entry that was applied.
 */
import type { Redis } from '../../stores/redis.ts'
import { keptKey } from '../keys.ts'
import { FIRST_ID, compareIds } from '../stream-id.ts'

export interface Kept {
  /** The last id that was applied. */
  applied: string
  /** The last id that was deleted. Everything after it can be applied again. */
  trimmed: string
  /** Size of the entries that are kept. */
  bytes: number
  /** When entries were last deleted before their time, in epoch ms; 0 when never. */
  earlyAt: number
}

export async function readKept(redis: Redis, partition: string): Promise<Kept> {
  const [applied, trimmed, bytes, early] = await redis.hmget(keptKey(partition), 'applied', 'trimmed', 'bytes', 'early')
  return {
    applied: applied ?? FIRST_ID,
    trimmed: trimmed ?? FIRST_ID,
    bytes: Number(bytes ?? 0),
    earlyAt: Number(early ?? 0),
  }
}

/**
 * Lists the partitions of which Redis has deleted entries that this Postgres has not applied. Applying later entries
 * would hide the loss.
 */
export async function findLost(redis: Redis, positions: ReadonlyMap<string, string>): Promise<string[]> {
  const found = await Promise.all(
    [...positions].map(async ([partition, position]) => {
      const { trimmed } = await readKept(redis, partition)
      return compareIds(trimmed, position) > 0 ? [partition] : []
    }),
  )
  return found.flat()
}

export const OLDER_THAN_REDIS = 'postgres: it is older than Redis: run admin recover'

/** Accepts the loss: the partitions continue at the positions of this Postgres. */
export async function acceptLost(redis: Redis, positions: ReadonlyMap<string, string>): Promise<string[]> {
  const lost = await findLost(redis, positions)
  await Promise.all(lost.map((partition) => redis.hdel(keptKey(partition), 'trimmed')))
  return lost
}
