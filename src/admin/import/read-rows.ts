/** Reads the rows of a CSV or NDJSON file one by one: memory use does not grow with the file. */
import { stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { Readable } from 'node:stream'
import { parse } from 'csv-parse'
import { CommandError, UsageError } from '../command.ts'
import { readText } from './read-text.ts'
import { splitLines } from './split-lines.ts'

export interface ImportFile {
  file: string
  format: 'csv' | 'ndjson'
  /** Separator between the cells of a CSV row. */
  delimiter: string
}

/** `number` counts from 1, without the header of a CSV file. A row that cannot be read has a `fault`. */
export type FileRow =
  | { number: number; values: Record<string, unknown> }
  | { number: number; fault: string; text: string }

const EXTENSIONS: Record<string, ImportFile['format']> = {
  '.csv': 'csv',
  '.tsv': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
}

/** The format is `format`, otherwise that of the file's extension. Throws UsageError. */
export function describeSource(file: string, format?: string, delimiter?: string): ImportFile {
  const chosen = format ?? EXTENSIONS[extname(file).toLowerCase()]
  if (chosen !== 'csv' && chosen !== 'ndjson')
    throw new UsageError(`--format must be csv or ndjson${format ? `, not "${format}"` : ` for the file ${file}`}`)
  const fallback = extname(file).toLowerCase() === '.tsv' ? '\t' : ','
  return { file, format: chosen, delimiter: delimiter === '\\t' ? '\t' : (delimiter ?? fallback) }
}

/** Yields every row. Throws CommandError when the file as a whole cannot be read. */
export async function* readRows(source: ImportFile): AsyncGenerator<FileRow> {
  await checkReadable(source.file)
  yield* source.format === 'csv' ? readCsv(source) : readNdjson(source.file)
}

/** The column names of a CSV file. */
export async function readHeader(source: ImportFile): Promise<string[]> {
  await checkReadable(source.file)
  for await (const header of readRecords(source)) return checkHeader(header)
  throw new CommandError('empty_file', `${source.file} is empty`)
}

async function checkReadable(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined)
  if (!found?.isFile()) throw new CommandError('file_not_found', `There is no file ${file}`)
}

async function* readCsv(source: ImportFile): AsyncGenerator<FileRow> {
  let columns: string[] | undefined
  let number = 0
  for await (const cells of readRecords(source)) {
    if (!columns) columns = checkHeader(cells)
    else yield toRow(++number, columns, cells)
  }
}

async function* readRecords({ file, delimiter }: ImportFile): AsyncGenerator<string[]> {
  const parser = parse({ delimiter, relax_column_count: true, skip_empty_lines: true })
  const input = Readable.from(readText(file))
  input.on('error', (error) => parser.destroy(error))
  try {
    for await (const record of input.pipe(parser)) yield record as string[]
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(
      'unreadable_file',
      `${file} cannot be read as CSV: ${(error as Error).message}. If its cells have another separator, give --delimiter`,
    )
  } finally {
    input.destroy()
  }
}

function checkHeader(cells: string[]): string[] {
  const columns = cells.map((cell) => cell.trim())
  const twice = columns.find((column, index) => columns.indexOf(column) !== index)
  if (twice !== undefined)
    throw new CommandError('unreadable_file', `The file has two columns named "${twice}". Rename one of them`)
  return columns
}

function toRow(number: number, columns: string[], cells: string[]): FileRow {
  if (cells.length === columns.length)
    return { number, values: Object.fromEntries(columns.map((column, index) => [column, cells[index]])) }
  const fault = `the row has ${cells.length} cells, the header has ${columns.length}`
  return { number, fault, text: JSON.stringify(cells) }
}

async function* readNdjson(file: string): AsyncGenerator<FileRow> {
  let number = 0
  for await (const line of splitLines(readText(file), file)) {
    const text = line.trim()
    if (text !== '') yield parseLine(++number, text)
  }
}

function parseLine(number: number, text: string): FileRow {
  try {
    const values: unknown = JSON.parse(text)
    if (typeof values === 'object' && values !== null && !Array.isArray(values))
      return { number, values: values as Record<string, unknown> }
  } catch {
    // Reported below, like any other line that is not an object.
  }
  return { number, fault: 'the line is not a JSON object', text: text.slice(0, 1000) }
}
