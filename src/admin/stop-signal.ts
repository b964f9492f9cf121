import { onShutdownSignal } from '../process/shutdown-signals.ts'

/** Returns a signal that aborts on Ctrl-C, on SIGTERM, or after `seconds`. Its reason says which. */
export function createStopSignal(seconds?: number): { signal: AbortSignal; end(): void } {
  const stopping = new AbortController()
  const giveUp = (): void => stopping.abort(`it was not finished after ${seconds} s`)
  const timer = seconds === undefined ? undefined : setTimeout(giveUp, seconds * 1000)
  const removeListener = onShutdownSignal(() => stopping.abort('it was stopped'), 130)
  return {
    signal: stopping.signal,
    end() {
      clearTimeout(timer)
      removeListener()
    },
  }
}
