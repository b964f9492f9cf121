import { sleep } from '../../async/sleep.ts'
import { CommandError } from '../command.ts'

const POLL_MS = 200
const PATIENCE_MS = 120_000

interface Wait {
  count(): Promise<number>
  most: number
  /** What is under way, beside the figures. */
  words(left: number): string
  /** Of what does not move. */
  stalled(left: number): string
}

/**
 * Resolves when no more than so many are left, or `signal` aborts. Throws CommandError when it never falls for two minutes;
 * it may rise in between, since others ask as well.
 */
export async function waitUntilFewer(
  { signal, say }: { signal: AbortSignal; say(text: string): void },
  { count, most, words, stalled }: Wait,
): Promise<void> {
  let last = Infinity
  let movedAt = performance.now()
  for (;;) {
    const left = await count()
    if (left <= most || signal.aborted) return
    if (left < last) movedAt = performance.now()
    last = left
    if (performance.now() - movedAt > PATIENCE_MS) throw new CommandError('stalled', stalled(left))
    say(words(left))
    await sleep(POLL_MS, signal)
  }
}
