/**
 * The engine of npm `chdb` handles the signals of a crash as a server does, which waits for its log to tell of it: without one
 * that takes five minutes, in which nobody is answered and nothing is started again. Here the process ends at once, as by default.
 */
import { constants } from 'node:os'

const CRASHES = ['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL', 'SIGFPE', 'SIGSYS', 'SIGTRAP'] as const

/** To be called after the engine has started. */
export function endOnCrash(): void {
  if ('deno' in process.versions) return setDefaults()
  for (const signal of CRASHES) {
    const listener = (): void => undefined
    // Once nobody listens any more, the runtime gives a signal its default back.
    process.on(signal, listener).off(signal, listener)
  }
}

interface Deno {
  dlopen(library: string, symbols: object): { symbols: { signal(number: number, handler: null): void } }
}

/** Deno lets nobody listen to them, but the C library can be called. */
function setDefaults(): void {
  const { Deno } = globalThis as unknown as { Deno: Deno }
  const library = process.platform === 'darwin' ? 'libSystem.dylib' : 'libc.so.6'
  const libc = Deno.dlopen(library, { signal: { parameters: ['i32', 'pointer'], result: 'pointer' } })
  for (const signal of CRASHES) libc.symbols.signal(constants.signals[signal], null)
}
