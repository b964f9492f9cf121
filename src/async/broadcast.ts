/** Shares what each round of a recurring task finds with everyone who waits for the next round. */
import { sleep } from './sleep.ts'

export interface Broadcast<Found> {
  /** Call it when a round begins, and what it returns when the round ends, if the round found anything. */
  begin(): (found: Found) => void
  /** What the next round that begins from now on finds; undefined when none has found anything within `ms`, or when `signal` aborts. */
  next(ms: number, signal: AbortSignal): Promise<Found | undefined>
}

export function createBroadcast<Found>(): Broadcast<Found> {
  const waiting = new Set<(found: Found) => void>()
  return {
    begin() {
      const waitingNow = [...waiting]
      return (found) => {
        for (const answer of waitingNow) answer(found)
      }
    },
    async next(ms, signal) {
      let found: Found | undefined
      const over = new AbortController()
      const end = (): void => over.abort()
      const answer = (result: Found): void => {
        found = result
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
