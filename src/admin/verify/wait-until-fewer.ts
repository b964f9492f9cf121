import { sleep } from '../../async/sleep.ts'
import { CommandError } from '../command.ts'
import type { CompareDeps } from './kind.ts'

const POLL_MS = 200
const STALLED_MS = 120_000
/** If more saves than this are not shipped yet, too many contacts cannot be compared. */
const MAX_WAITING = 5000

interface Wait {
  count(): Promise<number>
  max: number
  /** Returns the progress text. */
  describe(left: number): string
  /** Returns the error message for a number that does not decrease. */
  stalled(left: number): string
}

/**
 * Resolves when at most `max` are left, or when `signal` aborts. Throws CommandError when the number does not decrease
 * for two minutes. It may rise at times, because other commands add to it.
 */
export async function waitUntilFewer(
  { signal, showStatus }: Pick<CompareDeps, 'signal' | 'showStatus'>,
  { count, max, describe, stalled }: Wait,
): Promise<void> {
  let last = Infinity
  let movedAt = performance.now()
  for (;;) {
    const left = await count()
    if (left <= max || signal.aborted) return
    if (left < last) movedAt = performance.now()
    last = left
    if (performance.now() - movedAt > STALLED_MS) throw new CommandError('stalled', stalled(left))
    showStatus(describe(left))
    await sleep(POLL_MS, signal)
  }
}

/** Resolves when the shipper has nearly caught up. Throws CommandError when it makes no progress. */
export async function waitUntilCaughtUp({ sql, ...deps }: CompareDeps): Promise<void> {
  await waitUntilFewer(deps, {
    async count() {
      const [row] = await sql<{ rows: number }[]>`select count(*)::int as rows from outbox where shipped_at is null`
      return row?.rows ?? 0
    },
    max: MAX_WAITING,
    describe: (waiting) => `waiting for ClickHouse to catch up: ${waiting} saves`,
    stalled: (waiting) =>
      `${waiting} saves wait for ClickHouse, and their number does not decrease. Check the workers and ClickHouse`,
  })
}
