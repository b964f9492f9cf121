/** Resolves after `ms`, or as soon as the signal aborts. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> => startSleep(ms, signal).slept

/** A sleep that `end` ends, too. */
export function startSleep(ms: number, signal?: AbortSignal): { slept: Promise<void>; end: () => void } {
  const { promise: slept, resolve } = Promise.withResolvers<void>()
  const end = (): void => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
    resolve()
  }
  const timer = setTimeout(end, ms)
  if (signal?.aborted) end()
  else signal?.addEventListener('abort', end)
  return { slept, end }
}
