import { vi } from 'vitest'
import { runAdmin } from '../../src/admin/main.ts'
import type { Config } from '../../src/config.ts'

export interface Ran {
  exitCode: number
  out: string
  err: string
}

/** Runs one command of an operator in this process, and captures its output. */
export async function runAdminQuietly(words: string[], config: Config): Promise<Ran> {
  const written = { out: '', err: '' }
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation((text, done?: unknown) => keep('out', text, done)),
    vi.spyOn(process.stderr, 'write').mockImplementation((text, done?: unknown) => keep('err', text, done)),
  ]
  function keep(name: keyof typeof written, text: string | Uint8Array, done: unknown): boolean {
    written[name] += String(text)
    if (typeof done === 'function') (done as () => void)()
    return true
  }
  try {
    return { exitCode: await runAdmin(words, config), ...written }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}
