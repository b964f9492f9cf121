/** Calls the caller's own functions, which can do no harm here. */
import { ignore } from './timers.ts'
import type { Lost } from './types.ts'

/** What the caller's function makes of it is its own affair: nothing that it throws, now or later, comes back. */
export function callListener<Argument>(
  listener: ((argument: Argument) => unknown) | undefined,
  argument: Argument,
): void {
  new Promise((resolve) => resolve(listener?.(argument))).catch(ignore)
}

/** How often the console hears of what is lost. */
const TELL_EVERY_MS = 10_000

export function createConsoleReport(): (lost: Lost) => void {
  let quietUntil = 0
  return ({ operation, code, message }) => {
    if (Date.now() < quietUntil) return
    quietUntil = Date.now() + TELL_EVERY_MS
    console.error(`sluice: ${operation} was lost, perhaps more: ${message} (${code})`)
  }
}
