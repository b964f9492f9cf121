/**
 * What the engine of npm `chdb` does not do itself: it is ClickHouse with one check taken out. A write to a file that fails
 * (a full disk, above all) is counted and otherwise ignored: an insert is answered well, or small parts become a large one,
 * and what is on the disk is empty.
 */
import { statfs } from 'node:fs/promises'
import type { Session } from 'chdb'

const MEBIBYTE = 1024 * 1024
/** With less room than this nothing is begun that writes: what was begun before can hardly fill so much. */
export const KEPT_FREE_BYTES = 32 * MEBIBYTE
/** An option of the engine: inserts and merges, which reserve their room, leave so much. */
export const keepFree = (bytes: number): string =>
  `--storage_configuration.disks.default.keep_free_space_bytes=${bytes}`

/** Between two looks at what nobody asked for: merges. What they replace is kept for minutes (0008_keep_replaced.sql). */
const LOOK_MS = 10_000

/** Rejects as ClickHouse does when there is no room. Tables and mutations are written without reserving any. */
export async function requireRoom(folder: string, keptFree = KEPT_FREE_BYTES): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize >= keptFree) return
  throw new Error(
    `Code: 243. DB::Exception: There is not enough space: below ${KEPT_FREE_BYTES / MEBIBYTE} MiB are left on the disk of ${folder}. (NOT_ENOUGH_SPACE)`,
  )
}

/**
 * Ends this process at once when a write has failed since it began: before anybody is told that all is well, and before
 * what is not whole replaces what was. The next start sets it aside (mend-tables.ts). Resolves when none has.
 */
export async function watchWrites(session: Session): Promise<() => Promise<void>> {
  const check = async (): Promise<void> => {
    const failed = await countFailedWrites(session)
    if (failed === 0) return
    process.stderr.write(
      `${failed} writes to files failed: ending, so that the next start sets aside what is not whole\n`,
    )
    process.kill(process.pid, 'SIGKILL')
  }
  await check()
  setInterval(() => void check().catch((error: unknown) => process.stderr.write(`${String(error)}\n`)), LOOK_MS)
  return check
}

async function countFailedWrites(session: Session): Promise<number> {
  const query = "SELECT value FROM system.events WHERE event = 'WriteBufferFromFileDescriptorWriteFailed'"
  const result = await session.queryAsync(query, { format: 'TabSeparated' })
  return Number(result.text())
}
