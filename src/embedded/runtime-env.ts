import { env } from 'node:process'

/** The Dockerfile says the same. */
export const RUNTIME_ENV = {
  // Bun's allocator looks ten times a second for memory to give back, which a busy service then takes again page by page.
  // Every ten seconds (in ms) is enough, and saves the workers a twentieth of their CPU.
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: '10000',
  // Once a second, whatever there is, Bun collects garbage: that alone would be a third of what a thread costs at rest, and
  // every half minute it still is a tenth. What work leaves behind is collected by how much it is, as ever.
  BUN_GC_TIMER_INTERVAL: '300000',
}

/** Settings of the runtime for a service that is quiet at times; what the operator has set stays. */
export function runtimeEnv(): Record<string, string> {
  return Object.fromEntries(Object.entries(RUNTIME_ENV).filter(([name]) => env[name] === undefined))
}
