/** Time-outs of one length, with one timer for all: a timer for each would cost more than most of what is waited for. */
import { clearTimeout, setTimeout } from 'node:timers'

export interface TimeOuts {
  /** `onLate` is called once `ms` have passed, unless it is ended before. */
  begin(onLate: () => void): TimeOut
  end(timeOut: TimeOut): void
  /** Ends all. */
  close(): void
}

export interface TimeOut {
  onLate: () => void
  /** By the clock that only goes forward. */
  deadline: number
}

export function createTimeOuts(ms: number): TimeOuts {
  /** In the order in which they began, and so in which they end. */
  const running = new Set<TimeOut>()
  let timer: ReturnType<typeof setTimeout> | undefined

  // What is waited for keeps the process alive; that it could be late does not.
  const wakeIn = (left: number) => setTimeout(sweep, left).unref()
  const sweep = (): void => {
    for (const timeOut of running) {
      const left = timeOut.deadline - performance.now()
      if (left > 0) {
        timer = wakeIn(left)
        return
      }
      running.delete(timeOut)
      timeOut.onLate()
    }
    timer = undefined
  }
  return {
    begin(onLate) {
      const timeOut = { onLate, deadline: performance.now() + ms }
      running.add(timeOut)
      timer ??= wakeIn(ms)
      return timeOut
    },
    end: (timeOut) => void running.delete(timeOut),
    close() {
      clearTimeout(timer)
      running.clear()
    },
  }
}
