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

export function createSharedTimeouts(ms: number): SharedTimeouts {
  /** In the order in which they began, which is also the order of their deadlines. */
  const running = new Set<SharedTimeout>()
  let timer: ReturnType<typeof setTimeout> | undefined

  // The timer alone must not keep the process alive.
  const wakeIn = (left: number) => setTimeout(sweep, left).unref()
  const sweep = (): void => {
    for (const timeout of running) {
      const left = timeout.deadline - performance.now()
      if (left > 0) {
        timer = wakeIn(left)
        return
      }
      running.delete(timeout)
      timeout.onLate()
    }
    timer = undefined
  }
  return {
    begin(onLate) {
      const timeout = { onLate, deadline: performance.now() + ms }
      running.add(timeout)
      timer ??= wakeIn(ms)
      return timeout
    },
    end: (timeout) => void running.delete(timeout),
    close() {
      clearTimeout(timer)
      running.clear()
    },
  }
}
