/** Disk checks that the engine of the embedded ClickHouse does not do itself. */
import { glob, open, statfs } from 'node:fs/promises'
import { join } from 'node:path'

const MEBIBYTE = 1024 * 1024
/** With less free space than this, no new statement may write. Statements that already run hardly need so much. */
export const MIN_FREE_BYTES = 32 * MEBIBYTE
/** An option of the engine: inserts and merges, which reserve space, leave this much free. */
export const minFreeOption = (bytes: number): string =>
  `--storage_configuration.disks.default.keep_free_space_bytes=${bytes}`

/** Rejects like ClickHouse when there is no space, because the engine ignores failed writes (watch-files.ts), and writes tables and mutations without reserving space. */
export async function requireFreeSpace(folder: string, keptFree = MIN_FREE_BYTES): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize >= keptFree) return
  throw new Error(
    `Code: 243. DB::Exception: There is not enough space: less than ${MIN_FREE_BYTES / MEBIBYTE} MiB are left on the disk of ${folder}. (NOT_ENOUGH_SPACE)`,
  )
}

/** Syncs the names of mutations to the disk: otherwise a power cut could lose an erasure that was acknowledged. */
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

/** Ignores a table that was dropped meanwhile. */
function ifGone(error: unknown): undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
}
