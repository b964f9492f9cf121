/** What nobody awaited is told to the caller's own functions, which can do no harm. */
import { ignore } from './timers.ts'
import type { Lost } from './types.ts'

/** What the caller's function makes of it is its own affair: nothing that it throws, now or later, comes back. */
export function tell<Told>(listener: ((told: Told) => unknown) | undefined, told: Told): void {
  new Promise((resolve) => resolve(listener?.(told))).catch(ignore)
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
