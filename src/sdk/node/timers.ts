/** Time and ends. No timer keeps the process: it may end while one runs, unless a promise is awaited (`holdProcess`). */

/** 23 days. Timers can last little longer: a longer one would end at once. */
const MAX_TIMER_MS = 2_000_000_000

/** Milliseconds of a clock that nobody sets. */
export const now = (): number => performance.now()

/** Aborted after `ms`, or with `leader`. To be aborted when it is no longer needed. */
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

/** What ends with each signal. */
const followers = new WeakMap<AbortSignal, Set<() => void>>()

/** Calls `end` with `leader`, unless `over` comes first. One listener serves all: Node warns of more than ten on one signal. */
function follow(leader: AbortSignal, end: () => void, over: AbortSignal): void {
  const known = followers.get(leader)
  const ends = known ?? new Set()
  ends.add(end)
  over.addEventListener('abort', () => ends.delete(end))
  if (known) return
  followers.set(leader, ends)
  leader.addEventListener('abort', () => ends.forEach((end) => end()))
}

/** Node and Bun give timers that know how to be let go, Deno (some versions) and edge runtimes give numbers. */
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

/** Resolves after `ms`, or as soon as the signal is aborted. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<undefined> =>
  whenAborted(abortAfter(ms, signal).signal)

/**
 * What `work` comes to; undefined when `ms` are over, or `leader` is aborted, before it. Then its signal is aborted.
 * Raced against a promise of its own: one that lives longer would keep what each race came to for as long.
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

/** Keeps the process alive until the work is done: the caller awaits it, and nothing else keeps the process alive. */
export async function holdProcess<Result>(work: Promise<Result>): Promise<Result> {
  const timer = setInterval(ignore, MAX_TIMER_MS)
  try {
    return await work
  } finally {
    clearInterval(timer)
  }
}

export function ignore(): void {}
