/** The turns of a recurring task, for others who need what one finds. */
import { pause } from './pause.ts'

export interface Turns<Found> {
  /** At the beginning of a turn; `tell` at its end, if it found anything. */
  begin(): (found: Found) => void
  /** What the first turn finds that begins from now on; undefined when none has within `ms`, or at `signal`. */
  next(ms: number, signal: AbortSignal): Promise<Found | undefined>
}

export function createTurns<Found>(): Turns<Found> {
  let coming = Promise.withResolvers<Found>()
  return {
    begin() {
      const { resolve } = coming
      coming = Promise.withResolvers<Found>()
      return resolve
    },
    async next(ms, signal) {
      const { promise } = coming
      const over = new AbortController()
      const end = (): void => over.abort()
      if (signal.aborted) end()
      // Signals may live as long as the process does: nothing is left at them.
      signal.addEventListener('abort', end)
      const found = await Promise.race([promise, pause(ms, over.signal).then(() => undefined)])
      signal.removeEventListener('abort', end)
      end()
      return found
    },
  }
}
