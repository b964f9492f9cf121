import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { UsageError } from './command.ts'

/**
 * Returns the text of the file that an option names, or of standard input for `-`. Throws UsageError. `content`: what
 * belongs in the file, for the message when it is missing.
 */
export async function readOptionFile(option: string, file: string, content: string): Promise<string> {
  if (file === '-') return text(process.stdin)
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new UsageError(describeFault(option, file, content, (error as NodeJS.ErrnoException).code))
  }
}

function describeFault(option: string, file: string, content: string, code: string | undefined): string {
  // Does not repeat the name: someone may have entered the secret itself.
  if (code === 'ENOENT') return `The file of ${option} does not exist. Create it with ${content}, or name another file`
  if (code === 'EISDIR') return `${file} is a directory. Give a file with ${content} to ${option}`
  if (code === 'EACCES') return `You may not read the file ${file}. Run the command as its owner, or change its rights`
  return `${option} cannot be read: ${code ?? 'unknown'}`
}
