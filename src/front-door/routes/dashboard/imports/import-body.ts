/** Bodies of an import: the first records of the file, rows to check, and rows to record. */
import { type Static, Type } from '@sinclair/typebox'
import { createTurns } from '../../../../async/take-turns.ts'
import { SettingError, readTimezone } from '../../../../businesses/settings.ts'
import { type FileRow, readColumns, rowOfCells, rowOfLine } from '../../../../imports/file-row.ts'
import { ImportError } from '../../../../imports/import-error.ts'
import { type Assignment, WITHOUT_TIME, missingField, readField } from '../../../../imports/map-row.ts'
import type { RowRules } from '../../../../imports/prepare-row.ts'
import { MAX_COLUMNS, MAX_RECORD, type CsvFormat, readCsv } from '../../../../imports/read-csv.ts'
import { faultOf, moveFault } from '../../../../rules/faults.ts'
import { MAX_START } from '../../../../rules/imports/file-start.ts'
import { DECIMAL_SIGNS } from '../../../../rules/imports/read-decimal.ts'
import { UNTRIMMED, compileCheck, invalidRequest } from '../../../http/check-body.ts'
import { oneOf } from '../../reply-fields.ts'

/** Rows per request, as many as a batch may have. */
const MAX_ROWS = 500
const MAX_TEXT = 2 * MAX_RECORD
/** Of NDJSON. */
const MAX_LINE = 256 * 1024
const MAX_ASSIGNMENTS = 200
const MAX_NAME = 1000
/** Rows of a header's text that are read, the header included. */
const START_ROWS = 6
/** Numbers of rows, as Postgres stores them. */
const MAX_INTEGER = 2 ** 31 - 1
const text = (maxLength: number, description: string) => Type.String({ maxLength, description })
/** A tab is a delimiter, and begins a row whose first cell is empty. */
const untrimmed = { [UNTRIMMED]: true }
const delimiter = Type.String({
  minLength: 1,
  maxLength: 1,
  description: 'Between the cells of a CSV row.',
  ...untrimmed,
})

export const HeaderSchema = Type.Object({
  text: Type.String({ maxLength: MAX_START, description: 'The first records of the file.', ...untrimmed }),
  delimiter,
})
export const checkHeader = compileCheck(HeaderSchema)

const FILE = {
  format: Type.Union([Type.Literal('csv'), Type.Literal('ndjson')]),
  delimiter,
  columns: Type.Array(Type.String({ maxLength: MAX_START }), {
    maxItems: MAX_COLUMNS,
    description: 'Of a CSV file; a column without a name is an empty text. Empty for NDJSON.',
  }),
  mapping: Type.Array(
    Type.Object({
      field: text(300, 'Such as `event`, `identity.email` or `traits.seats:number`.'),
      column: Type.Optional(text(MAX_NAME, 'The column that it is taken from …')),
      value: Type.Optional(text(MAX_NAME, '… or its value in every row.')),
    }),
    { maxItems: MAX_ASSIGNMENTS, description: 'Of NDJSON it may be empty: then each line is an event.' },
  ),
  timezone: text(100, 'Of dates without an offset.'),
  decimal: Type.Optional(
    oneOf(DECIMAL_SIGNS, {
      description:
        'The sign that separates decimals; the other one separates thousands. Without it, a number that can be read in two ways, such as `1.234`, is refused.',
    }),
  ),
  withoutTime: Type.Optional(
    oneOf(WITHOUT_TIME, { description: 'What becomes of a row whose mapped time is empty (`fail`).' }),
  ),
  name: text(200, 'Equal rows of two imports with other names are recorded twice.'),
  firstRow: Type.Integer({
    minimum: 1,
    maximum: MAX_INTEGER,
    description: 'The number of the first of these rows in the file.',
  }),
  text: Type.String({
    maxLength: MAX_TEXT,
    description: `Whole records, ${MAX_ROWS} at most, without the header. Each ends with a line feed, whatever ends the lines of the file.`,
    ...untrimmed,
  }),
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

export function readRules(sent: SentRows, businessId: string): RowRules {
  const { mapping, timezone, name, format, decimal, withoutTime } = sent
  const zone = readSent('timezone', () => readTimezone(timezone))
  const assignments = mapping.map((one, index) => readAssignment(one, `mapping.${index}`))
  const missing = format === 'ndjson' && mapping.length === 0 ? null : missingField(assignments)
  if (missing !== null) throw invalidRequest([faultOf('mapping', 'mapping', { fields: missing })])
  // Constants come last, so that they take precedence over columns.
  const fixed = assignments.filter(({ from }) => 'fixed' in from)
  const mapped = assignments.filter(({ from }) => 'column' in from)
  const options = { timezone: zone, decimal, withoutTime, isCsv: format === 'csv' }
  return { mapping: { assignments: [...mapped, ...fixed], ...options }, businessId, name }
}

function readAssignment({ field, column, value }: SentRows['mapping'][number], path: string): Assignment {
  const found = readField(field.trim())
  if (found === null) throw invalidRequest([{ ...faultOf('', 'no_field', { name: field }), path: `${path}.field` }])
  if (value !== undefined) return { ...found, from: { fixed: value } }
  if (column !== undefined) return { ...found, from: { column } }
  throw invalidRequest([{ ...faultOf('', 'column_or_value'), path }])
}

/** Reads the header of a CSV file and its first rows. */
export async function readHeader(
  sent: Static<typeof HeaderSchema>,
): Promise<{ columns: string[]; samples: string[][] }> {
  const [header = [], ...samples] = await readRecords([sent.text], { delimiter: sent.delimiter }, START_ROWS)
  return { columns: readSent('text', () => readColumns(header)), samples }
}

/** `sources`: the cells of each CSV row, or the line of each NDJSON row. */
export async function readRows(sent: SentRows): Promise<{ rows: FileRow[]; sources: string[][] }> {
  const { format, text: records, delimiter: separator, columns, firstRow } = sent
  // Names are part of each row, and of its hash.
  if (columns.join('').length > MAX_START) throw invalidRequest([faultOf('columns', 'cell_long', { max: MAX_START })])
  const sources =
    format === 'csv'
      ? await readRecords([records], { delimiter: separator, first: firstRow, anyLineEnd: false }, MAX_ROWS + 1)
      : (await linesOf(records)).map((line) => [line])
  if (sources.length > MAX_ROWS) throw invalidRequest([faultOf('text', 'rows_up_to', { max: MAX_ROWS })])
  const turn = createTurns()
  const rows: FileRow[] = []
  for (const [index, source] of sources.entries()) {
    const number = firstRow + index
    rows.push(format === 'csv' ? rowOfCells(number, columns, source) : rowOfPart(number, source[0] ?? ''))
    await turn()
  }
  return { rows, sources }
}

/** Returns the lines that are not blank, and no more than one too many. */
async function linesOf(records: string): Promise<string[]> {
  const lines: string[] = []
  const turn = createTurns()
  for (const [line] of records.matchAll(/[^\n]+/g)) {
    await turn()
    if (line.trim() !== '') lines.push(line.trim())
    if (lines.length > MAX_ROWS) break
  }
  return lines
}

/** A line with very many keys would take long to hash. */
const rowOfPart = (number: number, line: string): FileRow =>
  line.length <= MAX_LINE
    ? rowOfLine(number, line)
    : { number, fault: faultOf('', 'cell_long', { max: MAX_LINE }), text: line.slice(0, MAX_NAME) }

/** Reads at most `max` records. */
async function readRecords(texts: string[], format: CsvFormat, max: number): Promise<string[][]> {
  const records: string[][] = []
  try {
    for await (const record of readCsv(texts, format)) if (records.push(record) === max) break
  } catch (error) {
    throw asRefusal('text', error)
  }
  return records
}

function readSent<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw asRefusal(path, error)
  }
}

/** Turns an error of the import's rules into a fault of the field. Returns any other error. */
function asRefusal(path: string, error: unknown): unknown {
  if (error instanceof SettingError) return invalidRequest([moveFault(error.fault, path)])
  if (!(error instanceof ImportError)) return error
  return invalidRequest([{ ...error.fault, path, message: `${path} ${error.message}` }])
}
