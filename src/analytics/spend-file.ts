/** Reads spend from a CSV file. */
import { createTurns } from '../async/take-turns.ts'
import { withoutTextMark } from '../imports/convert-cell.ts'
import { readColumns, rowOfCells } from '../imports/file-row.ts'
import { unreadable } from '../imports/import-error.ts'
import { readCsv } from '../imports/read-csv.ts'
import { addAmounts } from '../rules/events/money.ts'
import { type Fault, faultOf } from '../rules/faults.ts'
import { MAX_START, readSepLine } from '../rules/imports/file-start.ts'
import { hasThreeDecimals, readDecimal } from '../rules/imports/read-decimal.ts'
import { SPEND_FIELDS, type SpendField, type SpendRow, keyOfSpend, readSpendRow } from './spend-row.ts'

/** Maximum number of rows, without the header. */
export const MAX_FILE_ROWS = 20_000
/** Maximum number of refused rows in an answer. */
export const MAX_REFUSED = 100
const MAX_COLUMNS = 200

/** Accepted names of columns, in lower case and without other characters. */
const NAMES: Record<SpendField, readonly string[]> = {
  day: ['day', 'date'],
  channel: ['channel', 'utmchannel'],
  source: ['source', 'utmsource'],
  campaign: ['campaign', 'campaignname', 'utmcampaign'],
  amount: ['amount', 'spend', 'cost', 'amountspent'],
  currency: ['currency', 'currencycode'],
}

/** For rows whose file or cell does not contain it. */
export type SpendDefaults = Partial<Record<'channel' | 'source' | 'currency', string>>

export interface SpendFile {
  /** Name of the column of each field in the file. */
  columns: Partial<Record<SpendField, string>>
  /** Rows with the same day, channel, source, campaign and currency are added up. */
  rows: SpendRow[]
  /** Number of rows that were read, without refused ones. */
  read: number
  refused: RefusedRow[]
  refusedCount: number
}

export interface RefusedRow {
  /** Line in the file, from 1, including the header. */
  line: number
  error: string
  issues: Fault[]
}

/**
 * Throws ImportError for a file that is not CSV, lacks a column or has too many rows. `currency`: that of the business.
 */
export async function readSpendFile(text: string, defaults: SpendDefaults, currency: string): Promise<SpendFile> {
  const delimiter = readSepLine(text.replace(/^\uFEFF/, ''))?.delimiter ?? guessDelimiter(text)
  const [header, ...records] = await readRecords(text, delimiter)
  if ((header?.cells.length ?? 0) > MAX_COLUMNS) throw unreadable('file_columns', { max: MAX_COLUMNS })
  const names = readColumns(header?.cells ?? [])
  const columns = findColumns(names)
  const missing = (['day', 'amount'] as const).filter((field) => columns[field] === undefined)
  if (missing.length > 0)
    throw unreadable('file_without', {
      columns: missing.map((field) => `${field} (${NAMES[field].join(', ')})`).join(', '),
    })
  if (records.length > MAX_FILE_ROWS) throw unreadable('file_rows', { max: MAX_FILE_ROWS })
  const sums = new Map<string, SpendRow>()
  const file: SpendFile = { columns, rows: [], read: 0, refused: [], refusedCount: 0 }
  const turn = createTurns()
  for (const { line, cells } of records) {
    await turn()
    const read = readCells({ names, columns, cells, delimiter, defaults, currency })
    if ('faults' in read) {
      file.refusedCount += 1
      const error = read.faults.map(({ message }) => message).join('; ')
      if (file.refused.length < MAX_REFUSED) file.refused.push({ line, error, issues: read.faults })
      continue
    }
    file.read += 1
    const key = keyOfSpend(read.row)
    const sum = addAmounts(sums.get(key)?.amount ?? '0', read.row.amount)
    sums.set(key, { ...read.row, amount: sum })
  }
  return { ...file, rows: [...sums.values()] }
}

const DELIMITERS = [',', ';', '\t', '|'] as const

/** The separator that occurs most in the first line. */
function guessDelimiter(text: string): string {
  const first = /^\uFEFF?\s*([^\n]*)/.exec(text.slice(0, MAX_START))?.[1] ?? ''
  const count = (one: string) => first.split(one).length
  return DELIMITERS.toSorted((one, other) => count(other) - count(one))[0] ?? ','
}

interface CsvRecord {
  line: number
  cells: string[]
}

/** Reads no more rows than one too many. */
async function readRecords(text: string, delimiter: string): Promise<CsvRecord[]> {
  const lines = await linesOfRecords(text)
  const records: CsvRecord[] = []
  let place = readSepLine(text.replace(/^\uFEFF/, '')) === null ? 0 : 1
  for await (const cells of readCsv([text], { delimiter, anyLineEnd: true })) {
    const line = lines[place] ?? place + 1
    place += 1
    // Spreadsheets also write rows that were emptied.
    if (cells.some((cell) => cell.trim() !== '')) records.push({ line, cells })
    if (records.length > MAX_FILE_ROWS + 1) break
  }
  return records
}

/**
 * The line at which each record begins: a line break within quotation marks is part of a cell. Empty lines are not
 * records.
 */
async function linesOfRecords(text: string): Promise<number[]> {
  const lines: number[] = []
  const turn = createTurns()
  let [line, start, isQuoted, isEmpty] = [1, 1, false, true]
  for (const [token] of text.matchAll(/"|\r\n|[\r\n]|[^"\r\n]+/g)) {
    await turn()
    if (token === '"') isQuoted = !isQuoted
    if (!/[\r\n]/.test(token)) {
      isEmpty &&= token === '\uFEFF'
      continue
    }
    line += 1
    if (isQuoted) continue
    if (!isEmpty) lines.push(start)
    start = line
    isEmpty = true
  }
  return isEmpty ? lines : [...lines, start]
}

function findColumns(names: readonly string[]): Partial<Record<SpendField, string>> {
  const columns: Partial<Record<SpendField, string>> = {}
  for (const field of SPEND_FIELDS) {
    const [name, another] = names.filter((one) => NAMES[field].includes(one.toLowerCase().replaceAll(/[^a-z]/g, '')))
    if (name !== undefined && another !== undefined) throw unreadable('file_same_field', { name, another, field })
    if (name !== undefined) columns[field] = name
  }
  return columns
}

interface Cells {
  names: string[]
  columns: Partial<Record<SpendField, string>>
  cells: string[]
  delimiter: string
  defaults: SpendDefaults
  currency: string
}

function readCells({
  names,
  columns,
  cells,
  delimiter,
  defaults,
  currency,
}: Cells): { row: SpendRow } | { faults: Fault[] } {
  const row = rowOfCells(1, names, cells)
  if ('fault' in row) return { faults: [row.fault] }
  const textOf = (field: SpendField): string => {
    const name = columns[field]
    return (name === undefined ? '' : withoutTextMark(String(row.values[name]))).trim()
  }
  const rowCurrency = textOf('currency') || defaults.currency
  const amount = readAmount(textOf('amount'), delimiter, rowCurrency ?? currency)
  if (amount === null)
    return { faults: [faultOf('amount', 'amount_two_ways', { sent: textOf('amount').slice(0, 40) })] }
  return readSpendRow(
    {
      day: textOf('day'),
      channel: nameOfChannel(textOf('channel')) || defaults.channel,
      source: textOf('source') || defaults.source,
      campaign: textOf('campaign'),
      amount,
      currency: rowCurrency,
    },
    currency,
  )
}

/** `Paid search` and `paid-search` become `paid_search`. */
const nameOfChannel = (text: string): string => text.toLowerCase().replaceAll(/[\s-]+/g, '_')

/**
 * In files with a decimal comma, cells are separated by semicolons or tabs: there, `12,34` is 12.34. An amount that could
 * have a sign between thousands is null.
 */
function readAmount(text: string, delimiter: string, currency: string): string | null {
  const read = readDecimal(text, { threeDecimals: hasThreeDecimals(currency) })
  if ('fault' in read) return read.fault === 'two_ways' ? null : text
  return delimiter === ',' ? text : text.replace(/^(\d+),(\d+)$/, '$1.$2')
}
