/** Resolves after `ms`, or as soon as the signal aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
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
export function untilBeat(everyMs: number, signal?: AbortSignal): Promise<void> {
  return pause(msToBeat(everyMs), signal)
}

export const msToBeat = (everyMs: number): number => Math.ceil(everyMs - (performance.now() % everyMs))
