/** Long work on a thread that also answers others: it gives them a turn every few milliseconds. */
import { setImmediate as nextTurn } from 'node:timers/promises'

const TURN_MS = 5

/**
 * Returns a function to be called and awaited between the steps of long work. It lets other work run if the last turn
 * was some milliseconds ago.
 */
export function createTurns(now = () => performance.now()): () => Promise<void> | undefined {
  let endsAt = now() + TURN_MS
  return () => {
    if (now() < endsAt) return undefined
    return nextTurn().then(() => {
      endsAt = now() + TURN_MS
    })
  }
}
