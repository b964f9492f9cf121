import type { Redis } from '../../src/stores/redis.ts'

/** Counts the entries of these streams that wait. The streams also keep applied entries for a while (STREAM_KEEP). */
export async function countWaiting(redis: Redis, streams: string[]): Promise<number> {
  const counts = await Promise.all(
    streams.map(async (stream) => {
      const kept = await redis.hget(stream.replace(/:stream$/, ':kept'), 'count')
      return (await redis.xlen(stream)) - Number(kept ?? 0)
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}
