/**
 * npm `chdb` handles crash signals like a ClickHouse server, which first logs the crash. As chdb has no log here, it
 * would wait for five minutes, answering no requests, and would not be restarted. This restores the default: the
 * process ends at once.
 */
import { constants } from 'node:os'

const CRASHES = ['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL', 'SIGFPE', 'SIGSYS', 'SIGTRAP'] as const

/** Call this after chdb has started. */
export function endOnCrash(): void {
  if ('deno' in process.versions) return setDefaults()
  for (const signal of CRASHES) {
    const listener = (): void => undefined
    // When the last listener is removed, the runtime restores the signal's default action.
    process.on(signal, listener).off(signal, listener)
  }
}

interface Deno {
  dlopen(library: string, symbols: object): { symbols: { signal(number: number, handler: null): void } }
}

/** Deno does not allow listeners for these signals, but can call the C library. */
function setDefaults(): void {
  const { Deno } = globalThis as unknown as { Deno: Deno }
  const library = process.platform === 'darwin' ? 'libSystem.dylib' : 'libc.so.6'
  const libc = Deno.dlopen(library, { signal: { parameters: ['i32', 'pointer'], result: 'pointer' } })
  for (const signal of CRASHES) libc.symbols.signal(constants.signals[signal], null)
}
