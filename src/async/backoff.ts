import { setTimeout as sleep } from 'node:timers/promises'

/** Waits 10 ms · 2^failures, at most 2 s, with full jitter on the upper half; at once when `signal` aborts. */
export async function backoff(failures: number, signal: AbortSignal): Promise<void> {
  const longest = Math.min(2000, 10 * 2 ** Math.min(failures, 8))
  await sleep(longest / 2 + (Math.random() * longest) / 2, undefined, { signal }).catch(() => undefined)
}
