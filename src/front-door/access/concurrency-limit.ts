/** Limits the concurrent calls of each business, so that many or slow calls of one business do not delay the others. */
import { type ErrorCode, RequestError } from '../../errors.ts'
import { createSharedTimeouts } from '../../async/shared-timeouts.ts'

/**
 * Resolves with a function that releases the slot. Rejects with RequestError: `unavailable` when `signal` aborts,
 * `rate_limited` when too many calls wait already, and the limit's `lateCode` when no slot becomes free in time.
 */
export type ConcurrencyLimit = (businessId: string, signal?: AbortSignal) => Promise<() => void>

/**
 * Reads share a front door's four connections. Edits are applied one by one, in partitions that businesses share.
 * Costly reads of the dashboard also take a slot of `dashboard`; there is one more of those, for its other reads.
 * Statements of the SQL page are run one after the other.
 */
export const MAX_CONCURRENT = {
  read: 2,
  dashboard: 3,
  costly: 2,
  statement: 1,
  change: 4,
  test: 2,
  page: 3,
  callback: 4,
} as const
export const MAX_WAITING_COSTLY = 10
/** Shorter than the time after which a server closes an idle connection. */
export const WAIT_TIMEOUT_MS = 5000
const RETRY = { headers: { 'Retry-After': '1' } }

interface CallQueue {
  running: number
  /** In order of arrival. */
  waiting: Set<() => void>
}

interface Waiting {
  timeoutMs?: number
  /** Number of calls of one business that may wait. */
  maxWaiting?: number
  /** `rate_limited`: the business itself has made the crowd. */
  lateCode?: 'unavailable' | 'rate_limited'
}

export function createConcurrencyLimit(
  atOnce: number,
  { timeoutMs = WAIT_TIMEOUT_MS, maxWaiting = Infinity, lateCode = 'unavailable' }: Waiting = {},
): ConcurrencyLimit {
  const businesses = new Map<string, CallQueue>()
  const timeouts = createSharedTimeouts(timeoutMs)

  function wait(calls: CallQueue, signal: AbortSignal | undefined): Promise<void> {
    if (calls.waiting.size >= maxWaiting) throw new RequestError('rate_limited', RETRY)
    return new Promise((resolve, reject) => {
      const leave = (code: ErrorCode): void => {
        timeouts.end(timeout)
        calls.waiting.delete(begin)
        signal?.removeEventListener('abort', hangUp)
        reject(new RequestError(code, RETRY))
      }
      const hangUp = (): void => leave('unavailable')
      const timeout = timeouts.begin(() => leave(lateCode))
      const begin = (): void => {
        timeouts.end(timeout)
        signal?.removeEventListener('abort', hangUp)
        resolve()
      }
      calls.waiting.add(begin)
      if (signal?.aborted) hangUp()
      else signal?.addEventListener('abort', hangUp)
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

  return async (businessId, signal) => {
    const calls = businesses.get(businessId) ?? { running: 0, waiting: new Set() }
    businesses.set(businessId, calls)
    if (calls.running < atOnce) calls.running += 1
    else await wait(calls, signal)
    return () => end(businessId, calls)
  }
}

/**
 * A request context. Its slots are released with the answer. When the caller disconnects, it stops waiting for a slot.
 */
interface SlotHolder {
  releaseSlot: (() => void) | undefined
  request: { signal: AbortSignal }
}

/**
 * The slots that a read takes. `quick`: one of its side, the API or the dashboard. `costly`: also one of the costly
 * ones. `statement`: also the turn of the SQL page. `shared`: none, because concurrent callers of a business share one read.
 */
export type ReadCost = 'quick' | 'costly' | 'statement' | 'shared'

/** `side`: the slots of the API or of the dashboard. */
export async function acquireReadSlots(
  cost: ReadCost,
  { statement, costly, side }: Record<'statement' | 'costly' | 'side', ConcurrencyLimit>,
  context: SlotHolder,
  businessId: string,
): Promise<void> {
  // The scarcest first: a read that waits for a slot must not hold one that other reads need.
  if (cost === 'statement') await acquireSlot(statement, context, businessId)
  if (cost === 'costly' || cost === 'statement') await acquireSlot(costly, context, businessId)
  if (cost !== 'shared') await acquireSlot(side, context, businessId)
}

export async function acquireSlot(slots: ConcurrencyLimit, context: SlotHolder, businessId: string): Promise<void> {
  const held = context.releaseSlot
  const release = await slots(businessId, context.request.signal)
  context.releaseSlot = () => {
    release()
    held?.()
  }
}
