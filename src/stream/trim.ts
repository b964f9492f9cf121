/** Keeps the stream in Redis consistent with the committed position. Every operation can be repeated. */
import type { Redis } from '../stores/redis.ts'
import { backlogKey, streamKey } from './keys.ts'
import { RAISE_LAST_ID, TRIM } from './lua.ts'
import { sleep } from '../async/sleep.ts'
import { runScript } from './run-script.ts'

/** Limits how long one call keeps Redis busy. */
const ENTRIES_PER_CALL = 64

/**
 * Deletes the entries up to and including a committed position, and subtracts their bytes from the backlog. Resolves
 * with the number of entries.
 */
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
  /**
   * Trims after a short delay, together with later positions. Never fails: a later trim, or the next owner, deletes
   * what remains.
   */
  trimSoon(position: string): void
  /** Must be the last call. Trims immediately, and resolves when that is done. */
  finish(): Promise<void>
}

/** While Redis writes a trim to disk, all clients wait. So one trim serves many small micro-batches. */
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

/** Ensures that later entries come after the committed position. Resolves with true when Redis was behind it. */
export async function raiseLastId(redis: Redis, partition: string, position: string): Promise<boolean> {
  return Number(await runScript(redis, RAISE_LAST_ID, [streamKey(partition)], [position])) === 1
}
