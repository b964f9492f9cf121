import { env } from 'node:process'

/** The Dockerfile has the same values. */
export const RUNTIME_ENV = {
  // Bun's allocator returns unused memory ten times a second, and a busy service then takes it again page by page.
  // Every ten seconds (in ms) is enough, and saves the workers 5 % of their CPU.
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: '10000',
  // Bun collects garbage every second, even without any: that is a third of the CPU of an idle thread, and every half minute
  // still a tenth. Garbage of real work is still collected by its amount.
  BUN_GC_TIMER_INTERVAL: '300000',
}

/** Settings of the runtime for a service that is idle at times. Variables that the operator has set keep their values. */
export function runtimeEnv(): Record<string, string> {
  return Object.fromEntries(Object.entries(RUNTIME_ENV).map(([name, value]) => [name, env[name] ?? value]))
}
