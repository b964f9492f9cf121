/** Keeping Redis' side in step with the committed position. All of it can be repeated at will. */
import type { Redis } from '../stores/redis.ts'
import { backlogKey, streamKey } from './keys.ts'
import { RAISE_LAST_ID, TRIM } from './lua.ts'
import { sleep } from '../async/sleep.ts'
import { runScript } from './run-script.ts'

/** Bounds how long Redis is busy with one call. */
const ENTRIES_PER_CALL = 64

/** Deletes the entries up to and at a committed position, and their bytes from the backlog; resolves with how many. */
export async function trim(redis: Redis, partition: string, position: string): Promise<number> {
  const keys = [streamKey(partition), backlogKey(partition)]
  let deleted = 0
  for (;;) {
    const now = Number(await runScript(redis, TRIM, keys, [position, ENTRIES_PER_CALL]))
    deleted += now
    if (now < ENTRIES_PER_CALL) return deleted
  }
}

export interface Trimmer {
  /** In a moment, together with what is passed until then. Never fails: a later one, or the next owner, makes up for it. */
  trimSoon(position: string): void
  /** The last call: trims what is due now, and resolves when that is done. */
  finish(): Promise<void>
}

/** Redis brings each trim to its disk, and everybody waits meanwhile: one does for many small micro-batches. */
const TRIM_AFTER_MS = 50

/** `report` is called with the error of a trim that failed. */
export function createTrimmer(redis: Redis, partition: string, report: (error: unknown) => void): Trimmer {
  const finishing = new AbortController()
  let due: string | undefined
  let running: Promise<void> | undefined
  const run = async (): Promise<void> => {
    while (due !== undefined) {
      await sleep(TRIM_AFTER_MS, finishing.signal)
      const position = due
      due = undefined
      await trim(redis, partition, position).catch(report)
    }
    running = undefined
  }
  return {
    trimSoon(position) {
      due = position
      running ??= run()
    },
    async finish() {
      finishing.abort()
      await running
    },
  }
}

/** Makes sure that later entries come after the committed position; true when Redis was behind it. */
export async function raiseLastId(redis: Redis, partition: string, position: string): Promise<boolean> {
  return Number(await runScript(redis, RAISE_LAST_ID, [streamKey(partition)], [position])) === 1
}
