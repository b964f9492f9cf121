import { sleep } from './sleep.ts'

/**
 * Lets those who do the same at the same time go on together, so that what they do next is one batch: resolves once `many` have
 * called it, or `ms` after the first call.
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
