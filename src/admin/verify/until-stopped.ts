/** Ctrl-C or SIGTERM asks to end; a second one does not wait. */
export function untilStopped(): { signal: AbortSignal; end(): void } {
  const stopping = new AbortController()
  const ask = (): void => {
    if (stopping.signal.aborted) process.exit(130)
    stopping.abort()
  }
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.on(signal, ask)
  return {
    signal: stopping.signal,
    end() {
      for (const signal of signals) process.off(signal, ask)
    },
  }
}
