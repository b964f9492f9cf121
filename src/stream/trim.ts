/** Keeping Redis' side in step with the committed position. All of it can be repeated at will. */
import type { Redis } from '../stores/redis.ts'
import { backlogKey, streamKey } from './keys.ts'
import { RAISE_LAST_ID, TRIM } from './lua.ts'
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

/** Makes sure that later entries come after the committed position; true when Redis was behind it. */
export async function raiseLastId(redis: Redis, partition: string, position: string): Promise<boolean> {
  return Number(await runScript(redis, RAISE_LAST_ID, [streamKey(partition)], [position])) === 1
}
