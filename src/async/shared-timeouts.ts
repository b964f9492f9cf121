/** Time-outs of one length that share one timer: a timer for each would cost more than most of the operations themselves. */
import { clearTimeout, setTimeout } from 'node:timers'

export interface SharedTimeouts {
  /** `onLate` is called once `ms` have passed, unless it is ended before. */
  begin(onLate: () => void): SharedTimeout
  end(timeout: SharedTimeout): void
  /** Ends all. */
  close(): void
}

export interface SharedTimeout {
  onLate: () => void
  /** By `performance.now()`. */
  deadline: number
}

export function createSharedTimeouts(ms: number): SharedTimeouts {
  /** In the order in which they began, which is the order of their deadlines. */
  const running = new Set<SharedTimeout>()
  let timer: ReturnType<typeof setTimeout> | undefined

  // The timer itself does not keep the process alive.
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
