/** Reads the rows of a CSV or NDJSON file one by one, so that memory use does not grow with the file. */
import { stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { type FileRow, readColumns, rowOfCells, rowOfLine } from '../../imports/file-row.ts'
import { ImportError } from '../../imports/import-error.ts'
import { readCsv } from '../../imports/read-csv.ts'
import { CommandError, UsageError } from '../command.ts'
import { readText } from './read-text.ts'
import { splitLines } from './split-lines.ts'

export interface ImportFile {
  file: string
  format: 'csv' | 'ndjson'
  /** Separator between the cells of a CSV row. Undefined: as the file says, otherwise a comma. */
  delimiter: string | undefined
}

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
  const fallback = extname(file).toLowerCase() === '.tsv' ? '\t' : undefined
  return { file, format: chosen, delimiter: delimiter === '\\t' ? '\t' : (delimiter ?? fallback) }
}

/** Yields every row. Throws CommandError when the file as a whole cannot be read. */
export async function* readRows(source: ImportFile): AsyncGenerator<FileRow> {
  await checkReadable(source.file)
  yield* source.format === 'csv' ? readCsvRows(source) : readNdjson(source.file)
}

/** Returns the column names of a CSV file. */
export async function readHeader(source: ImportFile): Promise<string[]> {
  await checkReadable(source.file)
  for await (const header of readRecords(source)) return readColumns(header)
  throw new CommandError('empty_file', `${source.file} is empty`)
}

async function checkReadable(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined)
  if (!found?.isFile()) throw new CommandError('file_not_found', `There is no file ${file}`)
}

async function* readCsvRows(source: ImportFile): AsyncGenerator<FileRow> {
  let columns: string[] | undefined
  let number = 0
  for await (const cells of readRecords(source)) {
    if (!columns) columns = readColumns(cells)
    else yield rowOfCells(++number, columns, cells)
  }
}

async function* readRecords({ file, delimiter }: ImportFile): AsyncGenerator<string[]> {
  try {
    yield* readCsv(readText(file), { delimiter })
  } catch (error) {
    if (!(error instanceof ImportError) || error.fault?.code !== 'file_csv') throw error
    const reason = String(error.fault.values?.['reason'])
    throw new CommandError(
      'unreadable_file',
      `${file} cannot be read as CSV: ${reason}. If its cells have another separator, give --delimiter`,
    )
  }
}

async function* readNdjson(file: string): AsyncGenerator<FileRow> {
  let number = 0
  for await (const line of splitLines(readText(file), file)) {
    const text = line.trim()
    if (text !== '') yield rowOfLine(++number, text)
  }
}
