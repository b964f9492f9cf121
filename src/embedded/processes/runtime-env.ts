import { env } from 'node:process'

/** The Dockerfile sets the same values. */
export const RUNTIME_ENV = {
  // Bun's allocator returns unused memory ten times a second, which a busy service must then fetch again page by page.
  // Every ten seconds (in ms) is enough, and saves 5 % of the workers' CPU.
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: '10000',
  // Bun collects garbage every second, even when there is none. That takes a third of the CPU of an idle thread, and a
  // tenth with an interval of half a minute. Real work still triggers collections by the amount of its garbage.
  BUN_GC_TIMER_INTERVAL: '300000',
}

/**
 * Returns the runtime settings for a service that is idle at times. Variables that the operator has set keep their
 * values.
 */
export function runtimeEnv(): Record<string, string> {
  return Object.fromEntries(Object.entries(RUNTIME_ENV).map(([name, value]) => [name, env[name] ?? value]))
}
