/** Waits for a store's answer no longer than is said, and takes none for late that only was not read yet. */
import { setImmediate } from 'node:timers'
import { createTimeOuts } from '../time-outs.ts'

/**
 * A busy process looks at its clock before it reads what has come: an answer has so many more turns of the event loop to be
 * found in. Bun needs two, and more under overload, for a turn reads from a thousand sockets at most. At rest they take no time.
 */
const TURNS = 8

/** The wrapped promise rejects after `ms` without an answer. */
export function createWait(ms: number, who: string): <T>(answer: Promise<T>) => Promise<T> {
  const timeOuts = createTimeOuts(ms)
  return (answer) =>
    new Promise((resolve, reject) => {
      const giveUp = (turns: number): void => {
        if (turns > 0) setImmediate(giveUp, turns - 1)
        else reject(new Error(`${who} has not answered within ${ms} ms`))
      }
      const timeOut = timeOuts.begin(() => giveUp(TURNS))
      answer.finally(() => timeOuts.end(timeOut)).then(resolve, reject)
    })
}
