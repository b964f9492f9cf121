import { createSemaphores } from '../../async/semaphore.ts'
import { createTransports } from '../../campaigns/engine/send/transports.ts'
import { createRenderService } from '../../messages/templates/renderer.ts'
import { NO_WAKE_UPS } from '../../stores/wake-ups.ts'
import type { CallEngineDeps } from './call-engine-deps.ts'

/** As of messages of campaigns. */
const ATTEMPT_MS = 20_000
const LEASE_MS = 60_000
/** The renderer lets 20 jobs of one business wait. */
const RENDERED_AT_ONCE = 16

export interface OpenedCallEngine {
  deps: CallEngineDeps
  /** Call it when no message is in flight. */
  close(): Promise<void>
}

/** Starts no thread and opens no connection before the first message. */
export function openCallEngine(
  given: Pick<CallEngineDeps, 'sql' | 'log' | 'guard' | 'config' | 'now'> &
    Partial<Pick<CallEngineDeps, 'wakeUps' | 'report'>>,
): OpenedCallEngine {
  const renderer = createRenderService()
  const transports = createTransports(given)
  const deps: CallEngineDeps = {
    wakeUps: NO_WAKE_UPS,
    report: () => undefined,
    ...given,
    renderer,
    rendering: createSemaphores(RENDERED_AT_ONCE),
    transports,
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
