/** The turns of a recurring task, for others who need what one finds. */
import { sleep } from './sleep.ts'

export interface Broadcast<Found> {
  /** At the beginning of a turn; `tell` at its end, if it found anything. */
  begin(): (found: Found) => void
  /** What the first finds, of the turns that begin from now on; undefined when none has within `ms`, or at `signal`. */
  next(ms: number, signal: AbortSignal): Promise<Found | undefined>
}

export function createBroadcast<Found>(): Broadcast<Found> {
  const waiting = new Set<(found: Found) => void>()
  return {
    begin() {
      const asked = [...waiting]
      return (found) => {
        for (const answer of asked) answer(found)
      }
    },
    async next(ms, signal) {
      let found: Found | undefined
      const over = new AbortController()
      const end = (): void => over.abort()
      const answer = (told: Found): void => {
        found = told
        end()
      }
      if (signal.aborted) end()
      // Signals may live as long as the process does: nothing is left at them.
      signal.addEventListener('abort', end)
      waiting.add(answer)
      await sleep(ms, over.signal)
      waiting.delete(answer)
      signal.removeEventListener('abort', end)
      return found
    },
  }
}
