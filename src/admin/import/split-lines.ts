import { CommandError } from '../command.ts'

/** Characters: twice what a request may hold. */
export const MAX_LINE = 64 * 1024 * 1024

/**
 * The lines of a text that comes in pieces, without their `\n` or `\r\n`. Nothing else ends a line: JSON may hold U+2028 and
 * U+2029 as they are. Throws CommandError for a line longer than MAX_LINE, which would have to be held whole.
 */
export async function* splitLines(pieces: AsyncIterable<string>, file: string): AsyncGenerator<string> {
  let number = 1
  let line = ''
  for await (const piece of pieces) {
    const [first = '', ...others] = piece.split('\n')
    line += first
    if (line.length > MAX_LINE)
      throw new CommandError(
        'unreadable_file',
        `Line ${number} of ${file} is longer than ${MAX_LINE} characters. NDJSON has one object on each line`,
      )
    for (const next of others) {
      yield line.replace(/\r$/, '')
      line = next
    }
    number += others.length
  }
  if (line !== '') yield line.replace(/\r$/, '')
}
