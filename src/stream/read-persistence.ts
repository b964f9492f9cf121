import type { Redis } from '../stores/redis.ts'

/** False: the last try of Redis to put on the disk what it promises to keep has failed. */
export interface Persistence {
  /** An append to the append-only file. Redis refuses to write while this is so (and exits with `appendfsync always`). */
  aof_write: boolean
  /** Writing that file anew, shorter: it grows as long as this fails. */
  aof_rewrite: boolean
  /** A snapshot, where Redis makes any. */
  rdb_save: boolean
}

/** A field that Redis does not report counts as working. */
export async function readPersistence(redis: Redis): Promise<Persistence> {
  const info = await redis.info('persistence')
  const isWell = (field: string) => !info.includes(`${field}:err`)
  return {
    aof_write: isWell('aof_last_write_status'),
    aof_rewrite: isWell('aof_last_bgrewrite_status'),
    rdb_save: isWell('rdb_last_bgsave_status'),
  }
}
