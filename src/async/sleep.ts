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
 * Resolves at the next full `everyMs` of this thread's time, or as soon as the signal aborts. What recurs in a thread falls
 * together then, which at rest costs far less than to wake up for each by itself.
 */
export function untilNextTick(everyMs: number, signal?: AbortSignal): Promise<void> {
  return sleep(msUntilTick(everyMs), signal)
}

export const msUntilTick = (everyMs: number): number => Math.ceil(everyMs - (performance.now() % everyMs))
