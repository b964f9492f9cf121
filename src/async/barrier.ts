import { sleep } from './sleep.ts'

/**
 * Makes concurrent callers continue together, so that their next operation is one batch. The promise resolves once
 * `many` callers have arrived, or `ms` after the first one.
 */
export function createBarrier({ many, ms }: { many: number; ms: number }): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = new AbortController()
  let arrived = 0
  return () => {
    arrived += 1
    if (arrived === 1 && many > 1) void sleep(ms, stop.signal).then(resolve)
    if (arrived >= many) {
      stop.abort()
      resolve()
    }
    return promise
  }
}
