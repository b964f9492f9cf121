import { onShutdownSignal } from '../process/shutdown-signals.ts'

/** Aborts when the operator asks to end (Ctrl-C or SIGTERM), or after so many seconds; the reason says which. */
export function runUntilStopped(seconds?: number): { signal: AbortSignal; end(): void } {
  const stopping = new AbortController()
  const giveUp = (): void => stopping.abort(`it was not done after ${seconds} s`)
  const timer = seconds === undefined ? undefined : setTimeout(giveUp, seconds * 1000)
  const endHearing = onShutdownSignal(() => stopping.abort('it was stopped'), 130)
  return {
    signal: stopping.signal,
    end() {
      clearTimeout(timer)
      endHearing()
    },
  }
}
