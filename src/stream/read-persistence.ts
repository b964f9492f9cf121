import type { Redis } from '../stores/redis.ts'

/** Whether the last write of each kind from Redis to disk succeeded. */
export interface Persistence {
  /**
   * Appending to the append-only file. While it is false, Redis refuses writes (and exits with `appendfsync always`).
   */
  aof_write: boolean
  /** Rewriting the append-only file in a shorter form. While it is false, the file grows. */
  aof_rewrite: boolean
  /** Saving a snapshot, if Redis is configured to. */
  rdb_save: boolean
}

/** Reads the state of persistence. A field that Redis does not report counts as working. */
export async function readPersistence(redis: Redis): Promise<Persistence> {
  const info = await redis.info('persistence')
  const isWell = (field: string) => !info.includes(`${field}:err`)
  return {
    aof_write: isWell('aof_last_write_status'),
    aof_rewrite: isWell('aof_last_bgrewrite_status'),
    rdb_save: isWell('rdb_last_bgsave_status'),
  }
}
