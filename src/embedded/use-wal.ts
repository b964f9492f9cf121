import { statfs } from 'node:fs/promises'
import { connectPostgres } from '../stores/postgres.ts'

const SEGMENT_BYTES = 16 * 1024 * 1024
/** As much as a busy installation has after its first checkpoint; `min_wal_size` keeps Postgres from giving it back. */
export const WAL_SEGMENTS = 64
const MOST_OF_FREE_SPACE = 1 / 8

/**
 * Uses so many segments of Postgres' log once, before there is much to save: a new one is filled with zeroes while every
 * save waits (50 ms and more), one that was used before is taken as it is. Does nothing when there are enough, or when they
 * would take more than an eighth of the free space.
 */
export async function useWal(url: string, folder: string, segments = WAL_SEGMENTS): Promise<void> {
  const disk = await statfs(folder)
  if (segments * SEGMENT_BYTES > disk.bavail * disk.bsize * MOST_OF_FREE_SPACE) return
  const sql = connectPostgres(url, { max: 1, name: 'sluice-wal' })
  try {
    const [{ count } = { count: 0 }] = await sql<{ count: number }[]>`
      select count(*) from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$'`
    if (count >= segments) return
    for (let used = count; used < segments; used += 1)
      // From an empty segment there is nothing to switch.
      await sql`select pg_logical_emit_message(false, 'sluice', ''), pg_switch_wal()`
    // What lies behind a checkpoint is used again.
    await sql`checkpoint`
  } finally {
    await sql.end({ timeout: 1 })
  }
}
