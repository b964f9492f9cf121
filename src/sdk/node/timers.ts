/**
 * Timers and deadlines. No timer keeps the process alive; it may end while one runs, unless a promise is awaited
 * (`holdProcess`).
 */

/** 23 days. Timers cannot last much longer: a longer one would fire at once. */
const MAX_TIMER_MS = 2_000_000_000

/** Milliseconds of a monotonic clock. */
export const now = (): number => performance.now()

/** Returns a controller that aborts after `ms`, or with `leader`. Abort it when it is no longer needed. */
export function abortAfter(ms: number, leader?: AbortSignal): AbortController {
  const ending = new AbortController()
  const { signal } = ending
  const end = (): void => ending.abort()
  const timer: unknown = ms < Infinity && setTimeout(end, Math.max(0, Math.min(ms, MAX_TIMER_MS)))
  letGo(timer)
  signal.addEventListener('abort', () => clearTimeout(timer as number))
  if (leader?.aborted) end()
  else if (leader) follow(leader, end, signal)
  return ending
}

/** Callbacks of each signal. */
const followers = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls `end` when `leader` aborts, unless `over` aborts first. One listener serves all callbacks, because Node warns
 * about more than ten on one signal.
 */
function follow(leader: AbortSignal, end: () => void, over: AbortSignal): void {
  const known = followers.get(leader)
  const ends = known ?? new Set()
  ends.add(end)
  over.addEventListener('abort', () => ends.delete(end))
  if (known) return
  followers.set(leader, ends)
  leader.addEventListener('abort', () => ends.forEach((end) => end()))
}

/**
 * Node and Bun return timer objects that can be unreferenced. Some versions of Deno, and edge runtimes, return numbers.
 */
function letGo(timer: unknown): void {
  const { Deno } = globalThis as { Deno?: { unrefTimer?: (timer: number) => void } }
  if (typeof timer === 'number') Deno?.unrefTimer?.(timer)
  else (timer as { unref?: () => unknown }).unref?.()
}

export function whenAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined))
    if (signal.aborted) resolve(undefined)
  })
}

/** Resolves after `ms`, or as soon as the signal aborts. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<undefined> =>
  whenAborted(abortAfter(ms, signal).signal)

/**
 * Returns the result of `work`. When `ms` have passed or `leader` aborts first, aborts the signal of `work` and returns
 * undefined. Races against a new promise each time, because a long-lived promise would keep the results of all races in
 * memory.
 */
export async function within<Result>(
  ms: number,
  work: (signal: AbortSignal) => Result | Promise<Result>,
  leader?: AbortSignal,
): Promise<Result | undefined> {
  const over = abortAfter(ms, leader)
  try {
    return await Promise.race([work(over.signal), whenAborted(over.signal)])
  } finally {
    over.abort()
  }
}

/** Keeps the process alive until the work is done, because nothing else does while the caller awaits it. */
export async function holdProcess<Result>(work: Promise<Result>): Promise<Result> {
  const timer = setInterval(ignore, MAX_TIMER_MS)
  try {
    return await work
  } finally {
    clearInterval(timer)
  }
}

export function ignore(): void {}
