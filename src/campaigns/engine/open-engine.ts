import { createSemaphores } from '../../async/semaphore.ts'
import { createRenderService } from '../../messages/templates/renderer.ts'
import { NO_WAKE_UPS } from '../../stores/wake-ups.ts'
import type { EngineDeps } from './engine-deps.ts'
import { createDueFinder } from './claim/find-due.ts'
import { createMessageBatches } from './send/message-batches.ts'
import { createTransports } from './send/transports.ts'
import { createVersionCache } from './claim/version-cache.ts'

/** Time limit of one attempt, including the wait for a connection of a mail server. */
const ATTEMPT_MS = 20_000
const LEASE_MS = 60_000
/** The renderer lets 20 jobs of one business wait. */
const RENDERED_AT_ONCE = 16

/**
 * Settings of the engine's connections. Each statement names the few rows that it is about, so any join that does not
 * use an index would read all others, too. The plan is therefore the same for all values, and is made once, because
 * planning cost more than execution. See refresh-statistics.ts.
 */
export const ENGINE_SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // A claim locks contacts, and each save of one of them waits for it. A process that stands still must not hold them for
  // long: its claim is undone and made again. Milliseconds.
  idle_in_transaction_session_timeout: '2000',
}

export interface OpenedEngine {
  deps: EngineDeps
  /** Call it when no message is in flight. */
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
    rendering: createSemaphores(RENDERED_AT_ONCE),
    transports,
    versions: createVersionCache(),
    due: createDueFinder(),
    batches: createMessageBatches(given),
    leaseMs: LEASE_MS,
    attemptMs: ATTEMPT_MS,
  }
  return {
    deps,
    async close() {
      transports.close()
      await renderer.close()
    },
  }
}
