/**
 * Shares readiness checks. /readyz is public: however often it is called, the stores are checked at most once a second.
 */
import type { Readiness } from './readiness.ts'

/** Milliseconds for which a result or a failure is reused, counted from the start of the check. */
export const CACHE_MS = 1000

interface SharedCheck {
  isOpen: boolean
  at: number
  isDone: boolean
  found: Promise<Readiness>
}

/**
 * Runs one check at a time, shared by all callers. This process knows whether the streams are open: when that changes,
 * the next call starts a new check. `now`: ms of a monotonic clock.
 */
export function shareReadiness(
  check: (isOpen: boolean) => Promise<Readiness>,
  isStreamOpen: () => boolean,
  now: () => number,
): () => Promise<Readiness> {
  let last: SharedCheck | undefined
  return () => {
    const isOpen = isStreamOpen()
    if (last?.isOpen === isOpen && (!last.isDone || now() - last.at < CACHE_MS)) return last.found
    const shared: SharedCheck = {
      isOpen,
      at: now(),
      isDone: false,
      found: check(isOpen).finally(() => {
        shared.isDone = true
      }),
    }
    last = shared
    return shared.found
  }
}
