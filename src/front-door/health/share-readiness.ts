/** Anybody may ask whether a front door is ready, as often as they like: however many do, the stores are asked once a second. */
import type { Readiness } from './readiness.ts'

/** What was found, or a failure to find it, is told for so long, counted from the question. */
export const KEEP_MS = 1000

interface Asked {
  isOpen: boolean
  at: number
  isDone: boolean
  found: Promise<Readiness>
}

/**
 * One check at a time, for all who ask meanwhile. Whether its road is open this process knows by itself, and tells at once:
 * when that has changed, it checks anew. `now` in ms, of a clock that never goes back.
 */
export function shareReadiness(
  check: (isOpen: boolean) => Promise<Readiness>,
  isStreamOpen: () => boolean,
  now: () => number,
): () => Promise<Readiness> {
  let last: Asked | undefined
  return () => {
    const isOpen = isStreamOpen()
    if (last?.isOpen === isOpen && (!last.isDone || now() - last.at < KEEP_MS)) return last.found
    const asked: Asked = {
      isOpen,
      at: now(),
      isDone: false,
      found: check(isOpen).finally(() => {
        asked.isDone = true
      }),
    }
    last = asked
    return asked.found
  }
}
