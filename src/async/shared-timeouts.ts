/**
 * Timeouts of equal length that share one timer. A timer for each would cost more than most of the operations
 * themselves.
 */
import { clearTimeout, setTimeout } from 'node:timers'

export interface SharedTimeouts {
  /** Calls `onLate` after `ms`, unless the timeout is ended earlier. */
  begin(onLate: () => void): SharedTimeout
  end(timeout: SharedTimeout): void
  /** Cancels all timeouts. */
  close(): void
}

export interface SharedTimeout {
  onLate: () => void
  /** On the clock of `performance.now()`. */
  deadline: number
}

/** What the timeouts know of time. */
export interface TimeoutClock {
  /** In milliseconds. */
  now(): number
  /** Calls `wake` after `ms`, unless the returned function is called earlier. */
  wakeIn(ms: number, wake: () => void): () => void
}

const PROCESS_CLOCK: TimeoutClock = {
  now: () => performance.now(),
  wakeIn(ms, wake) {
    // The timer alone must not keep the process alive.
    const timer = setTimeout(wake, ms).unref()
    return () => clearTimeout(timer)
  },
}

export function createSharedTimeouts(ms: number, clock = PROCESS_CLOCK): SharedTimeouts {
  /** In the order in which they began, which is also the order of their deadlines. */
  const running = new Set<SharedTimeout>()
  let cancel: (() => void) | undefined

  const sweep = (): void => {
    for (const timeout of running) {
      const left = timeout.deadline - clock.now()
      if (left > 0) {
        cancel = clock.wakeIn(left, sweep)
        return
      }
      running.delete(timeout)
      timeout.onLate()
    }
    cancel = undefined
  }
  return {
    begin(onLate) {
      const timeout = { onLate, deadline: clock.now() + ms }
      running.add(timeout)
      cancel ??= clock.wakeIn(ms, sweep)
      return timeout
    },
    end: (timeout) => void running.delete(timeout),
    close() {
      cancel?.()
      running.clear()
    },
  }
}
