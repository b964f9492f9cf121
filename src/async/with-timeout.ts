/** Waits for a store's answer no longer than is said, but takes none for late before this process had the time to read it. */
import { clearTimeout, setTimeout } from 'node:timers'
import { createSharedTimeouts } from './shared-timeouts.ts'

/** A process that wakes no later than this has time to read what came. */
const FREE_MS = 2
/** Under overload it is late at each look, and reads from no more than a thousand sockets in between. */
const MOST_LOOKS = 8

/**
 * The wrapped promise rejects after `ms` without an answer. A process that is too busy to look in time looks again, eight times
 * at most and each time within `ms`: it has read what came meanwhile.
 */
export function createTimeoutGuard(ms: number, who: string): <T>(answer: Promise<T>) => Promise<T> {
  const timeouts = createSharedTimeouts(ms)
  return (answer) =>
    new Promise((resolve, reject) => {
      let looking: ReturnType<typeof setTimeout> | undefined
      const look = (dueAt: number, looks: number): void => {
        const now = performance.now()
        const lateMs = now - dueAt
        if (looks === MOST_LOOKS || (looks > 0 && lateMs <= FREE_MS)) {
          reject(new Error(`${who} has not answered within ${ms} ms`))
          return
        }
        const more = Math.min(ms, Math.max(lateMs, FREE_MS))
        looking = setTimeout(look, more, now + more, looks + 1).unref()
      }
      const timeout = timeouts.begin(() => look(timeout.deadline, 0))
      const end = (): void => {
        timeouts.end(timeout)
        clearTimeout(looking)
      }
      answer.finally(end).then(resolve, reject)
    })
}
