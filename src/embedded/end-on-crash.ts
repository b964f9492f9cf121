/**
 * The engine of npm `chdb` handles crash signals like a server, which first writes the crash to its log. Here it has no log, so
 * it waits for five minutes, in which it answers no request and is not restarted. This restores the default: the process ends at
 * once.
 */
import { constants } from 'node:os'

const CRASHES = ['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL', 'SIGFPE', 'SIGSYS', 'SIGTRAP'] as const

/** Call this after the engine has started. */
export function endOnCrash(): void {
  if ('deno' in process.versions) return setDefaults()
  for (const signal of CRASHES) {
    const listener = (): void => undefined
    // After the last listener is removed, the runtime restores the default action of a signal.
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
