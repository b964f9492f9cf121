/** Restarts one process whenever it ends, like a supervisor in production. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Handle } from './run-process.ts'

export interface Supervision {
  /** Returns how often it has ended, or could not be started. */
  ends(): number
  /** Stops supervising and ends the process. */
  stop(signal: NodeJS.Signals): Promise<void>
}

const PAUSE_MS = 200

export function supervise(handle: Handle): Supervision {
  const stopping = new AbortController()
  let ends = 0
  let starting: Promise<void> | undefined
  const keepRunning = async (): Promise<void> => {
    for (;;) {
      await handle.ended()
      if (stopping.signal.aborted) return
      ends += 1
      await sleep(PAUSE_MS)
      if (stopping.signal.aborted) return
      starting = handle.start().catch(() => undefined)
      await starting
    }
  }
  const kept = keepRunning()
  return {
    ends: () => ends,
    async stop(signal) {
      stopping.abort()
      await starting
      await handle.stop(signal)
      await kept
    },
  }
}
