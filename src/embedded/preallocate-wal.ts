import { statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Sql, connectPostgres } from '../stores/postgres.ts'

const SEGMENT_BYTES = 16 * 1024 * 1024
/** No checkpoint comes between; `min_wal_size` keeps Postgres from giving them back. */
const SEGMENTS = 64
const MOST_OF_FREE_SPACE = 1 / 8
/** In pg_stat_activity, for who wants to wait for the end. */
export const WAL_USER = 'sluice-wal'

/**
 * Uses so many segments of Postgres' log once, before there is much to save: a new one is filled with zeroes while every
 * save waits (50 ms and more), one that was used before is taken as it is. Does nothing when there are enough, or when they
 * would take more than an eighth of the free space.
 */
export async function preallocateWal(url: string, folder: string, segments = SEGMENTS): Promise<void> {
  const disk = await statfs(folder)
  if (segments * SEGMENT_BYTES > disk.bavail * disk.bsize * MOST_OF_FREE_SPACE) return
  // A checkpoint of much that waits takes as long as it takes.
  const sql = connectPostgres(url, { max: 1, name: WAL_USER, settings: { statement_timeout: '0' } })
  try {
    let used = 0
    // What an earlier start has used lies ahead, and is passed before the first new one.
    for (; used < segments && (await countSegments(sql)) < segments; used += 1) {
      const began = performance.now()
      // A segment is made when something is written there; nor can an empty one be switched from.
      await sql`select pg_switch_wal(), pg_logical_emit_message(false, 'sluice', '', true)`
      // Who saves at once has a turn, too, however slow the disk.
      await sleep(performance.now() - began)
    }
    // What lies behind a checkpoint is used again.
    if (used > 0) await sql`checkpoint`
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function countSegments(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*) from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$'`
  return row?.count ?? 0
}
