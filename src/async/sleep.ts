/** Resolves after `ms`, or as soon as the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const timer = setTimeout(finish, ms)
    signal?.addEventListener('abort', finish)
  })
}

/**
 * Resolves at the next multiple of `everyMs` on this thread's clock, or as soon as the signal aborts. Recurring tasks of a
 * thread then run together, which costs an idle process far less than waking up for each.
 */
export function untilNextTick(everyMs: number, signal?: AbortSignal): Promise<void> {
  return sleep(msUntilTick(everyMs), signal)
}

export const msUntilTick = (everyMs: number): number => Math.ceil(everyMs - (performance.now() % everyMs))
