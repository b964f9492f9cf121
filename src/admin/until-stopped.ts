/**
 * Aborts when the operator asks to end (Ctrl-C or SIGTERM), or after so many seconds; the reason says which. Who asks while
 * it is ending does not wait.
 */
export function untilStopped(seconds?: number): { signal: AbortSignal; end(): void } {
  const stopping = new AbortController()
  const ask = (): void => {
    if (stopping.signal.aborted) process.exit(130)
    stopping.abort('it was stopped')
  }
  const giveUp = (): void => stopping.abort(`it was not done after ${seconds} s`)
  const timer = seconds === undefined ? undefined : setTimeout(giveUp, seconds * 1000)
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.on(signal, ask)
  return {
    signal: stopping.signal,
    end() {
      clearTimeout(timer)
      for (const signal of signals) process.off(signal, ask)
    },
  }
}
