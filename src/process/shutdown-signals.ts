/** One Ctrl-C may arrive twice: from the terminal, and from npm, which also receives it. */
const SAME_KEYPRESS_MS = 1000
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Calls `stop` when the process receives a signal to end. A second signal ends the process at once, with `exitCode`.
 * Returns a function that removes the handlers.
 */
export function onShutdownSignal(stop: () => void, exitCode: number): () => void {
  let firstSignalAt: number | undefined
  const onSignal = (): void => {
    firstSignalAt ??= performance.now()
    if (performance.now() - firstSignalAt > SAME_KEYPRESS_MS) process.exit(exitCode)
    stop()
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}
