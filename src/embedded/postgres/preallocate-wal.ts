import { statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Sql, connectPostgres } from '../../stores/postgres.ts'

const SEGMENT_BYTES = 16 * 1024 * 1024
/** Few enough that no checkpoint starts while they are written. `min_wal_size` keeps Postgres from deleting them. */
const SEGMENTS = 64
const MAX_SHARE_OF_FREE_SPACE = 1 / 8
/** The application_name in pg_stat_activity, by which others can wait for the end. */
export const WAL_USER = 'sluice-wal'

/**
 * Uses WAL segments once before there is much to save. Every save waits (50 ms and more) while Postgres fills a new
 * segment with zeroes, but Postgres reuses an old segment unchanged. Does nothing when there are enough segments, or
 * when they would take more than an eighth of the free space.
 */
export async function preallocateWal(url: string, folder: string, segments = SEGMENTS): Promise<void> {
  const disk = await statfs(folder)
  if (segments * SEGMENT_BYTES > disk.bavail * disk.bsize * MAX_SHARE_OF_FREE_SPACE) return
  // A checkpoint with much unwritten data may take long.
  const sql = connectPostgres(url, { max: 1, name: WAL_USER, settings: { statement_timeout: '0' } })
  try {
    let used = 0
    // Segments that an earlier start has used come first.
    for (; used < segments && (await countSegments(sql)) < segments; used += 1) {
      const began = performance.now()
      // Postgres creates a segment at the first write, and cannot switch away from an empty one.
      await sql`select pg_switch_wal(), pg_logical_emit_message(false, 'sluice', '', true)`
      // Leaves half of the time to saves, even on a slow disk.
      await sleep(performance.now() - began)
    }
    // Postgres reuses the segments before a checkpoint.
    if (used > 0) await sql`checkpoint`
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function countSegments(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*) from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$'`
  return row?.count ?? 0
}
