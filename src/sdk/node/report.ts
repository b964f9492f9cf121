/** Calls the caller's own functions safely. */
import { ignore } from './timers.ts'
import type { Lost } from './types.ts'

/** Ignores anything that the caller's function throws, now or later. */
export function callListener<Argument>(
  listener: ((argument: Argument) => unknown) | undefined,
  argument: Argument,
): void {
  new Promise((resolve) => resolve(listener?.(argument))).catch(ignore)
}

/** Milliseconds between two reports of lost calls on the console. */
const REPORT_EVERY_MS = 10_000

export function createConsoleReport(): (lost: Lost) => void {
  let quietUntil = 0
  return ({ operation, code, message }) => {
    if (Date.now() < quietUntil) return
    quietUntil = Date.now() + REPORT_EVERY_MS
    console.error(`sluice: ${operation} was lost, perhaps more: ${message} (${code})`)
  }
}
