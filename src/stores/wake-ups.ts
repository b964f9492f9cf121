/**
 * Wakes loops that look for due work once a second, as soon as a save has made work due. It only saves time: if a wake-up is lost, the
 * next look finds the work.
 */
import { sleep, startSleep } from '../async/sleep.ts'
import type { Logger } from '../log.ts'
import type { Redis } from './redis.ts'

/** The loops that can be woken. */
export type Sender = 'campaigns' | 'deliveries' | 'calls'

const channelOf = (sender: Sender): string => `sluice:wake-ups:${sender}`

/** The time between two wake-ups, at least. One look at many items costs little more than a look at one. */
const GAP_MS = 100

export interface WakeUps {
  /** Forgets earlier wake-ups: the look that begins now finds their work. */
  clear(): void
  /** Resolves after `ms`, when `signal` aborts, or at a wake-up since the last `clear`. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  close(): void
}

/** For a loop that nobody wakes. */
export const NO_WAKE_UPS: WakeUps = { clear: () => undefined, sleep, close: () => undefined }

/** Wakes a loop in all worker processes. */
export async function wake(redis: Redis, sender: Sender): Promise<void> {
  await redis.publish(channelOf(sender), '')
}

/** For a save that does not wait for it. `redis` in the role `publish`: a wake-up that cannot go out at once is lost. */
export function createWaker(redis: Redis, log: Logger): (sender: Sender) => void {
  return (sender) =>
    void wake(redis, sender).catch((error: unknown) => log.debug({ err: error, sender }, 'a wake-up did not go out'))
}

/** `redis` in the role `subscribe`. Others may use it, too. */
export function listenForWakeUps(redis: Redis, sender: Sender, log: Logger): WakeUps {
  const channel = channelOf(sender)
  const sleeping = new Set<() => void>()
  let isWoken = false
  let wokenAt = -Infinity
  let timer: NodeJS.Timeout | undefined
  const wakeAll = (): void => {
    timer = undefined
    wokenAt = performance.now()
    isWoken = true
    for (const end of sleeping) end()
  }
  const onMessage = (from: string): void => {
    if (from === channel) timer ??= setTimeout(wakeAll, Math.max(0, wokenAt + GAP_MS - performance.now()))
  }
  redis.on('message', onMessage)
  // The connection retries without limit, so a rejection means that it was closed on purpose.
  redis.subscribe(channel).catch((error: unknown) => log.debug({ err: error, sender }, 'nothing will wake this loop'))
  return {
    clear: () => (isWoken = false),
    async sleep(ms, signal) {
      if (isWoken) return
      const { slept, end } = startSleep(ms, signal)
      sleeping.add(end)
      await slept
      sleeping.delete(end)
    },
    close() {
      clearTimeout(timer)
      redis.off('message', onMessage)
    },
  }
}
