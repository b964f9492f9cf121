/**
 * Reads the records of a CSV text a little at a time: other work gets its turn in between, and the length of a record
 * is limited while it is read.
 */
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CsvError, type Parser, parse } from 'csv-parse'
import { SEP_LINE_LENGTH, endsLinesWithCr, readSepLine } from '../rules/imports/file-start.ts'
import { unreadable } from './import-error.ts'

export const MAX_COLUMNS = 1000
/** Maximum characters of a cell, and of a record with its quotation marks and delimiters. */
export const MAX_CELL = 128 * 1024
export const MAX_RECORD = 1024 * 1024

/** Characters that are parsed at once, which takes a few milliseconds. */
const SLICE = 8 * 1024

export interface CsvFormat {
  /** Undefined: as the first line of the file says (`sep=;`), otherwise a comma. */
  delimiter?: string | undefined
  /** Number of the first record, for errors. Of a file it is 0, the header. */
  first?: number
  /** Whether a carriage return alone ends a line. By default only if it ends the first line. */
  anyLineEnd?: boolean
}

/** Yields the cells of each record. Skips empty lines. Throws ImportError. */
export async function* readCsv(
  pieces: AsyncIterable<string> | Iterable<string>,
  { delimiter: given, first = 0, anyLineEnd }: CsvFormat,
): AsyncGenerator<string[]> {
  const { start, rest } = await readStart(pieces)
  const sepLine = first === 0 ? readSepLine(start) : null
  const delimiter = given ?? sepLine?.delimiter ?? ','
  const text = start.slice(sepLine?.length ?? 0)
  const endsWithCr = anyLineEnd ?? endsLinesWithCr(text)
  const parser: Parser = parse({
    delimiter,
    record_delimiter: ['\r\n', '\n', ...(endsWithCr ? ['\r'] : [])],
    relax_column_count: true,
    skip_empty_lines: true,
    on_record(record: string[]) {
      // The parser makes a costly error for each record that has another length than the first, also if any length is
      // accepted. So each record is the first.
      Object.assign(parser.info, { records: 0 })
      return record
    },
  })
  const check = createLimits(delimiter, endsWithCr, first)
  const input = Readable.from(slicesOf(text, rest, check))
  input.on('error', (error) => parser.destroy(error))
  try {
    for await (const record of input.pipe(parser)) yield record as string[]
  } catch (error) {
    throw error instanceof CsvError ? unreadable('file_csv', { reason: error.message }) : error
  } finally {
    input.destroy()
  }
}

/** Returns the beginning of the text, and the pieces after it. */
async function readStart(
  pieces: AsyncIterable<string> | Iterable<string>,
): Promise<{ start: string; rest: AsyncGenerator<string> }> {
  const rest = (async function* () {
    yield* pieces
  })()
  let start = ''
  while (start.length < SEP_LINE_LENGTH) {
    const { done, value } = await rest.next()
    if (done === true) break
    start += value
  }
  return { start: start.replace(/^\uFEFF/, ''), rest }
}

async function* slicesOf(
  start: string,
  rest: AsyncGenerator<string>,
  check: (text: string) => void,
): AsyncGenerator<string> {
  try {
    yield* slices(start, check)
    for await (const piece of rest) yield* slices(piece, check)
  } finally {
    // Closes the file also when nobody reads to its end.
    await rest.return(undefined)
  }
}

async function* slices(text: string, check: (text: string) => void): AsyncGenerator<string> {
  for (let from = 0; from < text.length;) {
    const end = Math.min(from + SLICE, text.length)
    // The parser reads bytes, and half a character of two units has none.
    const slice = text.slice(from, isHighSurrogate(text.charCodeAt(end - 1)) ? end + 1 : end)
    from += slice.length
    check(slice)
    yield slice
    await nextTurn()
  }
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00

/**
 * Returns a function that sees all of the text in order, before the parser, and throws ImportError at a record that is
 * too long. A quotation mark within a cell that does not begin with one is an error of the parser, so counting them is
 * sufficient here.
 */
function createLimits(delimiter: string, endsWithCr: boolean, first: number): (text: string) => void {
  let row = first
  let [cells, cell, record, isQuoted, isEmpty] = [1, 0, 0, false, true]
  return (text) => {
    for (let at = 0; at < text.length; at += 1) {
      const sign = text[at]
      if (sign === '"') isQuoted = !isQuoted
      else if (!isQuoted && (sign === '\n' || (endsWithCr && sign === '\r'))) {
        if (!isEmpty) row += 1
        ;[cells, cell, record, isEmpty] = [1, 0, 0, true]
        continue
      } else if (!isQuoted && sign === delimiter[0] && text.startsWith(delimiter, at)) {
        cells += 1
        cell = -1
      }
      cell += 1
      record += 1
      isEmpty &&= sign === '\r'
      if (cells > MAX_COLUMNS) throw unreadable('file_cells', { row, max: MAX_COLUMNS })
      // Two quotation marks around it.
      if (cell > MAX_CELL + 2) throw unreadable('file_cell', { row, max: MAX_CELL })
      if (record > MAX_RECORD) throw unreadable('file_row', { row, max: MAX_RECORD })
    }
  }
}
