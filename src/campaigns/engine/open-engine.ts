import { createSemaphore } from '../../async/semaphore.ts'
import { createRenderService } from '../../messages/templates/renderer.ts'
import { NO_WAKE_UPS } from '../../stores/wake-ups.ts'
import type { EngineDeps } from './engine-deps.ts'
import { createDueFinder } from './find-due.ts'
import { createMessageBatches } from './message-batches.ts'
import { createTransports } from './transports.ts'
import { createVersionCache } from './version-cache.ts'

/** Of one attempt, with its turn on the connections of a mail server. */
const ATTEMPT_MS = 20_000
const LEASE_MS = 60_000
const MAKE_MS = 100
/** Of one business the renderer lets 20 wait. */
const RENDERED_AT_ONCE = 16

/**
 * Settings of its connections. Each statement is about few rows that it names: any join but that by an index would read the others, too.
 * So its plan is the same for all values, and is made once: planning cost more than the work. See refresh-statistics.ts.
 */
export const ENGINE_SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
}

export interface OpenedEngine {
  deps: EngineDeps
  /** No message may be in hand. */
  close(): Promise<void>
}

export function openEngine(
  given: Pick<EngineDeps, 'sql' | 'log' | 'guard' | 'config' | 'now' | 'submit'> & Partial<Pick<EngineDeps, 'wakeUps'>>,
): OpenedEngine {
  const renderer = createRenderService()
  const transports = createTransports(given)
  const deps: EngineDeps = {
    wakeUps: NO_WAKE_UPS,
    ...given,
    renderer,
    rendering: createSemaphore(RENDERED_AT_ONCE),
    transports,
    versions: createVersionCache(),
    due: createDueFinder(),
    batches: createMessageBatches(given),
    leaseMs: LEASE_MS,
    attemptMs: ATTEMPT_MS,
    makeMs: MAKE_MS,
  }
  return {
    deps,
    async close() {
      transports.close()
      await renderer.close()
    },
  }
}
