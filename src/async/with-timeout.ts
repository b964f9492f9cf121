/** Limits the wait for a store's answer. An answer counts as late only if this process has had time to read it. */
import { clearTimeout, setTimeout } from 'node:timers'
import { createSharedTimeouts } from './shared-timeouts.ts'

/** If a timer fires at most this late, the process has had time to read what arrived. */
const FREE_MS = 2
/** Under overload every check is late, and the process reads from at most a thousand sockets between two checks. */
const MAX_CHECKS = 8

/**
 * Returns a function that makes a promise reject after `ms` without an answer. A process that is too busy to check in
 * time checks again, at most eight times and each time within `ms`, and reads the answers that have arrived in between.
 */
export function createTimeoutGuard(ms: number, who: string): <T>(answer: Promise<T>) => Promise<T> {
  const timeouts = createSharedTimeouts(ms)
  return (answer) =>
    new Promise((resolve, reject) => {
      let timer: ReturnType<typeof setTimeout> | undefined
      const check = (dueAt: number, checks: number): void => {
        const now = performance.now()
        const lateMs = now - dueAt
        if (checks === MAX_CHECKS || (checks > 0 && lateMs <= FREE_MS)) {
          reject(new Error(`${who} has not answered within ${ms} ms`))
          return
        }
        const more = Math.min(ms, Math.max(lateMs, FREE_MS))
        timer = setTimeout(check, more, now + more, checks + 1).unref()
      }
      const timeout = timeouts.begin(() => check(timeout.deadline, 0))
      const end = (): void => {
        timeouts.end(timeout)
        clearTimeout(timer)
      }
      answer.finally(end).then(resolve, reject)
    })
}
