/** Bodies of an import: the first records of the file, rows to check, and rows to record. */
import { type Static, Type } from '@sinclair/typebox'
import { CsvError, parse } from 'csv-parse/sync'
import { SettingError, readTimezone } from '../../../businesses/settings.ts'
import { CSV_OPTIONS, type FileRow, readColumns, rowOfCells, rowOfLine } from '../../../imports/file-row.ts'
import { ImportError } from '../../../imports/import-error.ts'
import { type Assignment, missingField, readField } from '../../../imports/map-row.ts'
import type { RowRules } from '../../../imports/prepare-row.ts'
import { faultOf, moveFault } from '../../../rules/faults.ts'
import { compileCheck, invalidRequest } from '../../http/check-body.ts'

/** Rows per request, as many as a batch may have. */
const MAX_ROWS = 500
const MAX_TEXT = 8 * 1024 * 1024
const MAX_COLUMNS = 1000
const MAX_ASSIGNMENTS = 200
/** Numbers of rows, as Postgres stores them. */
const MAX_INTEGER = 2 ** 31 - 1
const text = (maxLength: number, description: string) => Type.String({ maxLength, description })
const delimiter = Type.String({ minLength: 1, maxLength: 1, description: 'Between the cells of a CSV row.' })

export const HeaderSchema = Type.Object({ text: text(MAX_TEXT, 'The first records of the file.'), delimiter })
export const checkHeader = compileCheck(HeaderSchema)

const FILE = {
  format: Type.Union([Type.Literal('csv'), Type.Literal('ndjson')]),
  delimiter,
  columns: Type.Array(Type.String(), { maxItems: MAX_COLUMNS, description: 'Of a CSV file. Empty for NDJSON.' }),
  mapping: Type.Array(
    Type.Object({
      field: text(300, 'Such as `event`, `identity.email` or `traits.seats:number`.'),
      column: Type.Optional(text(1000, 'The column that it is taken from …')),
      value: Type.Optional(text(1000, '… or its value in every row.')),
    }),
    { maxItems: MAX_ASSIGNMENTS, description: 'Of NDJSON it may be empty: then each line is an event.' },
  ),
  timezone: text(100, 'Of dates without an offset.'),
  name: text(200, 'Equal rows of two imports with other names are recorded twice.'),
  firstRow: Type.Integer({
    minimum: 1,
    maximum: MAX_INTEGER,
    description: 'The number of the first of these rows in the file.',
  }),
  text: text(MAX_TEXT, `Whole records, ${MAX_ROWS} at most, without the header.`),
}
export const CheckSchema = Type.Object(FILE)
export const BeginSchema = Type.Object({
  file: text(255, 'The name of the file.'),
  fields: Type.Array(text(300, 'As in the mapping.'), { maxItems: MAX_ASSIGNMENTS }),
  rows: Type.Integer({ minimum: 1, maximum: MAX_INTEGER, description: 'Number of rows in the file.' }),
})
export const SendSchema = Type.Object({
  ...FILE,
  importId: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'From `POST /imports`.' }),
  numbers: Type.Array(Type.Integer({ minimum: 1 }), {
    maxItems: MAX_ROWS,
    description: 'Of each row: how many rows of the file with its hash there are up to it.',
  }),
})
export const checkBegin = compileCheck(BeginSchema)
export const checkRows = compileCheck(CheckSchema)
export const checkSend = compileCheck(SendSchema)
export type SentRows = Static<typeof CheckSchema>

export function readRules({ mapping, timezone, name, format }: SentRows, businessId: string): RowRules {
  const zone = readSent('timezone', () => readTimezone(timezone))
  const assignments = mapping.map((one, index) => readAssignment(one, `mapping.${index}`))
  const missing = format === 'ndjson' && mapping.length === 0 ? null : missingField(assignments)
  if (missing !== null) throw invalidRequest([faultOf('mapping', 'mapping', { fields: missing })])
  // Constants come last, so that they take precedence over columns.
  const fixed = assignments.filter(({ from }) => 'fixed' in from)
  const mapped = assignments.filter(({ from }) => 'column' in from)
  return { mapping: { assignments: [...mapped, ...fixed], timezone: zone }, businessId, name }
}

function readAssignment({ field, column, value }: SentRows['mapping'][number], path: string): Assignment {
  const found = readField(field.trim())
  if (found === null) throw invalidRequest([{ ...faultOf('', 'no_field', { name: field }), path: `${path}.field` }])
  if (value !== undefined) return { ...found, from: { fixed: value } }
  if (column !== undefined) return { ...found, from: { column } }
  throw invalidRequest([{ ...faultOf('', 'column_or_value'), path }])
}

/** Reads the header of a CSV file and its first rows. */
export function readHeader(sent: Static<typeof HeaderSchema>): { columns: string[]; samples: string[][] } {
  const [header = [], ...samples] = parseCells(sent.text, sent.delimiter)
  const columns = readSent('text', () => readColumns(header))
  if (columns.length > MAX_COLUMNS) throw invalidRequest([faultOf('text', 'columns_up_to', { max: MAX_COLUMNS })])
  return { columns, samples }
}

/** `sources`: the cells of each CSV row, or the line of each NDJSON row. */
export function readRows(sent: SentRows): { rows: FileRow[]; sources: string[][] } {
  const { format, text: records, delimiter: separator, columns, firstRow } = sent
  const sources = format === 'csv' ? parseCells(records, separator) : linesOf(records).map((line) => [line])
  if (sources.length > MAX_ROWS) throw invalidRequest([faultOf('text', 'rows_up_to', { max: MAX_ROWS })])
  const rows = sources.map((source, index) =>
    format === 'csv' ? rowOfCells(firstRow + index, columns, source) : rowOfLine(firstRow + index, source[0] ?? ''),
  )
  return { rows, sources }
}

const linesOf = (records: string): string[] =>
  records
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

const parseCells = (records: string, separator: string): string[][] =>
  readSent('text', () => parse(records, { ...CSV_OPTIONS, delimiter: separator, bom: false }))

/** Turns an error of the import's rules into a fault of the field. */
function readSent<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof SettingError) throw invalidRequest([moveFault(error.fault, path)])
    if (!(error instanceof ImportError || error instanceof CsvError)) throw error
    const fault = error instanceof ImportError ? error.fault : undefined
    throw invalidRequest([{ ...fault, path, message: `${path} ${error.message}` }])
  }
}
