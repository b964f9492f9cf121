/** Waits for a store's answer no longer than is said. Time for which this process was too busy to look does not count. */
import { setTimeout } from 'node:timers'
import { createTimeOuts } from '../time-outs.ts'

/** A process that wakes no later than this has time to read what came. */
const FREE_MS = 2
/** Under overload it is late at each look, and reads from no more than a thousand sockets in between. */
const MOST_LOOKS = 8

/** The wrapped promise rejects after `ms` without an answer. */
export function createWait(ms: number, who: string): <T>(answer: Promise<T>) => Promise<T> {
  const timeOuts = createTimeOuts(ms)
  return (answer) =>
    new Promise((resolve, reject) => {
      // A busy process looks at its clock before it reads what has come: as late as it is, so much longer it waits.
      const look = (dueAt: number, looks: number): void => {
        const now = performance.now()
        const lateMs = now - dueAt
        const more = Math.max(lateMs, FREE_MS)
        if (looks === MOST_LOOKS || (looks > 0 && lateMs <= FREE_MS)) {
          reject(new Error(`${who} has not answered within ${ms} ms`))
        } else setTimeout(look, more, now + more, looks + 1)
      }
      const timeOut = timeOuts.begin(() => look(timeOut.deadline, 0))
      answer.finally(() => timeOuts.end(timeOut)).then(resolve, reject)
    })
}
