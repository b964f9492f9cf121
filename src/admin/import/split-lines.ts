import { CommandError } from '../command.ts'

/** Maximum length of a line in characters: twice the size of a request. */
export const MAX_LINE = 64 * 1024 * 1024

/**
 * Splits a text that arrives in pieces into lines, without their `\n` or `\r\n`. No other character ends a line,
 * because JSON may contain U+2028 and U+2029. Throws CommandError for a line longer than MAX_LINE, because a line must
 * fit in memory.
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
        `Line ${number} of ${file} is longer than ${MAX_LINE} characters. NDJSON needs one object on each line`,
      )
    for (const next of others) {
      yield line.replace(/\r$/, '')
      line = next
    }
    number += others.length
  }
  if (line !== '') yield line.replace(/\r$/, '')
}
