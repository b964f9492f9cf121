import { sleep } from '../../async/sleep.ts'
import { CommandError } from '../command.ts'

const POLL_MS = 200
const STALLED_MS = 120_000

interface Wait {
  count(): Promise<number>
  max: number
  /** The progress text. */
  describe(left: number): string
  /** The error message when the number does not decrease. */
  stalled(left: number): string
}

/**
 * Resolves when at most `max` are left, or `signal` aborts. Throws CommandError when the number does not decrease for two
 * minutes; it may rise in between, because other commands add to it.
 */
export async function waitUntilFewer(
  { signal, showStatus }: { signal: AbortSignal; showStatus(text: string): void },
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
