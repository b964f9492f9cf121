/** Disk checks that the embedded ClickHouse does not do. */
import { glob, open, statfs } from 'node:fs/promises'
import { join } from 'node:path'

const MEBIBYTE = 1024 * 1024
/** With less free space than this, no new statement may write. Running statements hardly need this much. */
export const MIN_FREE_BYTES = 32 * MEBIBYTE
/** Returns a ClickHouse option: inserts and merges, which reserve space, leave this many bytes free. */
export const minFreeOption = (bytes: number): string =>
  `--storage_configuration.disks.default.keep_free_space_bytes=${bytes}`

/**
 * Rejects like ClickHouse when there is no space. The embedded ClickHouse ignores failed writes (watch-files.ts), and
 * writes tables and mutations without reserving space.
 */
export async function requireFreeSpace(folder: string, keptFree = MIN_FREE_BYTES): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize >= keptFree) return
  throw new Error(
    `Code: 243. DB::Exception: There is not enough space: less than ${MIN_FREE_BYTES / MEBIBYTE} MiB are left on the disk of ${folder}. (NOT_ENOUGH_SPACE)`,
  )
}

/** Syncs the directory entries of mutations to the disk. Otherwise a power cut could lose an acknowledged erasure. */
export async function syncTables(folder: string): Promise<void> {
  for await (const path of glob('store/*/*', { cwd: folder })) {
    const table = await open(join(folder, path)).catch(ifGone)
    try {
      await table?.sync()
    } finally {
      await table?.close()
    }
  }
}

/** Ignores the error when the table has been dropped. */
function ifGone(error: unknown): undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
}
