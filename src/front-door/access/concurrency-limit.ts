/** Limits the concurrent calls of each business, so that many or slow calls of one do not delay the others. */
import { RequestError } from '../../errors.ts'
import { createSharedTimeouts } from '../../async/shared-timeouts.ts'

/** Resolves with a function that releases the slot. Rejects with RequestError `unavailable` when none becomes free in time. */
export type ConcurrencyLimit = (businessId: string) => Promise<() => void>

/** Reads share a front door's four connections. Edits are applied one by one, in partitions that businesses share. */
export const MAX_CONCURRENT = { read: 2, dashboard: 3, change: 4 } as const
/** Less than the time after which a server hangs up on an idle connection. */
const WAIT_TIMEOUT_MS = 5000

interface CallQueue {
  running: number
  /** In order of arrival. */
  waiting: Set<() => void>
}

export function createConcurrencyLimit(atOnce: number, timeoutMs = WAIT_TIMEOUT_MS): ConcurrencyLimit {
  const businesses = new Map<string, CallQueue>()
  const timeouts = createSharedTimeouts(timeoutMs)

  function wait(calls: CallQueue): Promise<void> {
    return new Promise((resolve, reject) => {
      const timeout = timeouts.begin(() => {
        calls.waiting.delete(begin)
        reject(new RequestError('unavailable', { headers: { 'Retry-After': '1' } }))
      })
      const begin = (): void => {
        timeouts.end(timeout)
        resolve()
      }
      calls.waiting.add(begin)
    })
  }

  function end(businessId: string, calls: CallQueue): void {
    const [next] = calls.waiting
    if (next) {
      calls.waiting.delete(next)
      next()
      return
    }
    calls.running -= 1
    if (calls.running === 0) businesses.delete(businessId)
  }

  return async (businessId) => {
    const calls = businesses.get(businessId) ?? { running: 0, waiting: new Set() }
    businesses.set(businessId, calls)
    if (calls.running < atOnce) calls.running += 1
    else await wait(calls)
    return () => end(businessId, calls)
  }
}

/** A request context: its slots are released with the answer. */
interface SlotHolder {
  releaseSlot: (() => void) | undefined
}

export async function acquireSlot(slots: ConcurrencyLimit, context: SlotHolder, businessId: string): Promise<void> {
  const held = context.releaseSlot
  const release = await slots(businessId)
  context.releaseSlot = () => {
    release()
    held?.()
  }
}
