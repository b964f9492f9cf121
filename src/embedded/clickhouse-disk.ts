/** What the engine of the embedded ClickHouse does not see to on its disk. */
import { glob, open, statfs } from 'node:fs/promises'
import { join } from 'node:path'

const MEBIBYTE = 1024 * 1024
/** With less room than this nothing is begun that writes: what was begun before can hardly fill so much. */
export const KEPT_FREE_BYTES = 32 * MEBIBYTE
/** An option of the engine: inserts and merges, which reserve their room, leave so much. */
export const keepFree = (bytes: number): string =>
  `--storage_configuration.disks.default.keep_free_space_bytes=${bytes}`

/** Rejects as ClickHouse does when there is no room: failed writes are nothing to the engine (watch-files.ts). Tables and mutations are written without reserving any. */
export async function requireRoom(folder: string, keptFree = KEPT_FREE_BYTES): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize >= keptFree) return
  throw new Error(
    `Code: 243. DB::Exception: There is not enough space: below ${KEPT_FREE_BYTES / MEBIBYTE} MiB are left on the disk of ${folder}. (NOT_ENOUGH_SPACE)`,
  )
}

/** Brings the names of mutations to the disk: after a power cut an erasure that was answered would be unknown. */
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

/** Dropped meanwhile. */
function ifGone(error: unknown): undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
}
