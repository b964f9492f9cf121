/**
 * Keeps the stream in Redis consistent with the committed position. Every operation can be repeated. Applied entries
 * stay for a while (STREAM_KEEP): a Postgres that lost their commits in a failover reads them again.
 */
import type { Redis } from '../../stores/redis.ts'
import { backlogKey, keptKey, streamKey } from '../keys.ts'
import { RAISE_LAST_ID, TRIM } from '../lua.ts'
import { sleep } from '../../async/sleep.ts'
import { runScript } from '../run-script.ts'
import { FIRST_ID } from '../stream-id.ts'

/** Limits how long one call keeps Redis busy. */
const ENTRIES_PER_CALL = 64

export interface TrimOptions {
  /** The id up to which entries are deleted. Default: the position. */
  upTo?: string
  /** Maximum size of the entries that are kept. Default: no limit. */
  keptBytes?: number
}

/**
 * Subtracts the entries up to and including a committed position from the backlog, and deletes those that need not be
 * kept. Resolves with the number of entries handled.
 */
export async function trim(
  redis: Redis,
  partition: string,
  position: string,
  { upTo = position, keptBytes = Number.MAX_SAFE_INTEGER }: TrimOptions = {},
): Promise<number> {
  const keys = [streamKey(partition), backlogKey(partition), keptKey(partition)]
  let handled = 0
  for (;;) {
    const now = Number(await runScript(redis, TRIM, keys, [position, upTo, ENTRIES_PER_CALL, keptBytes]))
    handled += now
    if (now < ENTRIES_PER_CALL) return handled
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

/** How long applied entries stay. */
export interface Keep {
  /** Milliseconds after the commit. 0: they are deleted at once. */
  ms: number
  /** Maximum bytes of requests per partition. */
  bytes: number
}

const KEEP_NOTHING: Keep = { ms: 0, bytes: 0 }

/** While Redis writes a trim to disk, all clients wait. So one trim serves many small micro-batches. */
const TRIM_AFTER_MS = 50
/** Commits within this share of the time that entries are kept are deleted together. */
const TOGETHER = 1 / 20

/** `report` is called with the error of a trim that failed. */
export function createTrimmer(
  redis: Redis,
  partition: string,
  report: (error: unknown) => void,
  keep = KEEP_NOTHING,
): Trimmer {
  const finishing = new AbortController()
  const ages = createAges(keep.ms)
  let due: string | undefined
  let last = FIRST_ID
  let running: Promise<void> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  const run = async (): Promise<void> => {
    while (due !== undefined) {
      await sleep(TRIM_AFTER_MS, finishing.signal)
      const position = due
      due = undefined
      await trim(redis, partition, position, { upTo: ages.takeOld(), keptBytes: keep.bytes }).catch(report)
    }
    running = undefined
    trimWhenOld()
  }
  const trimWhenOld = (): void => {
    clearTimeout(timer)
    const ms = ages.msUntilOld()
    if (ms === undefined || finishing.signal.aborted) return
    timer = setTimeout(() => start(last), ms)
    timer.unref()
  }
  const start = (position: string): void => {
    due = position
    running ??= run()
  }
  return {
    trimSoon(position) {
      last = position
      ages.add(position)
      start(position)
    },
    async finish() {
      finishing.abort()
      clearTimeout(timer)
      await running
    },
  }
}

/** Remembers when positions were committed. It forgets those of which the entries may be deleted. */
function createAges(keepMs: number) {
  const commits: { position: string; since: number; at: number }[] = []
  let old = FIRST_ID
  return {
    add(position: string): void {
      const now = performance.now()
      const newest = commits.at(-1)
      if (newest && now - newest.since < keepMs * TOGETHER) Object.assign(newest, { position, at: now })
      else commits.push({ position, since: now, at: now })
    },
    /** Returns the last position that was committed long enough ago. */
    takeOld(): string {
      const limit = performance.now() - keepMs
      while (commits[0] && commits[0].at <= limit) old = commits.shift()?.position ?? old
      return old
    },
    msUntilOld: (): number | undefined => commits[0] && Math.max(0, commits[0].at + keepMs - performance.now()),
  }
}

/** Ensures that later entries come after the committed position. Resolves with true when Redis was behind it. */
export async function raiseLastId(redis: Redis, partition: string, position: string): Promise<boolean> {
  return Number(await runScript(redis, RAISE_LAST_ID, [streamKey(partition)], [position])) === 1
}
