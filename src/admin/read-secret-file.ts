import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { UsageError } from './command.ts'

/** Returns the content of --secret-file, or of standard input for `-`. Throws UsageError. */
export async function readSecretFile(file: string): Promise<string> {
  if (file === '-') return text(process.stdin)
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new UsageError(`--secret-file cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}`)
  }
}
