/** Converts the text of a cell to a value of an event. NDJSON values that already have a type are not changed. */
import { CsvError, parse } from 'csv-parse/sync'
import { readIso } from '../rules/events/read-iso.ts'
import { trimText } from '../rules/events/text.ts'
import { type Fault, faultOf } from '../rules/faults.ts'
import type { Conversion } from '../rules/imports/event-fields.ts'
import { type DecimalSign, hasThreeDecimals, readDecimal } from '../rules/imports/read-decimal.ts'
import { OPT_IN_WORDS, type OptInAnswer, readOptIn } from '../rules/imports/read-opt-in.ts'
import { firstInstantFrom, instantOf, localAt } from '../rules/time/zones.ts'

/** An empty cell gives an undefined `value`: the field is not sent. */
export type Converted = { value: unknown } | { fault: Fault }

export function conversionNamed(suffix = 'text'): Conversion | undefined {
  return suffix === 'text' || suffix === 'number' || suffix === 'boolean' ? suffix : undefined
}

/** How cells are read. */
export interface CellRules {
  /** Time zone of dates without an offset. */
  timezone: string
  /** The sign that separates decimals. Undefined: as far as the cell shows it. */
  decimal?: DecimalSign | undefined
  /** The currency of the row, if the cell is its amount. */
  currency?: unknown
}

/** Maximum characters of a text: no field of an event takes more. */
const MAX_TEXT = 32_768
/** Characters of a text that a message shows. */
const SHOWN = 100

export function convertCell(conversion: Conversion, cell: unknown, rules: CellRules): Converted {
  if (typeof cell === 'number' && conversion === 'time') return readEpoch(cell, String(cell))
  if (typeof cell === 'number' && conversion === 'choice') return readChoice(String(cell), rules.timezone)
  if (typeof cell !== 'string') return { value: cell }
  if (cell.length > MAX_TEXT) return { fault: faultOf('', 'cell_long', { max: MAX_TEXT }) }
  const text = trimText(cell)
  return text === '' ? { value: undefined } : CONVERSIONS[conversion](text, rules)
}

const CONVERSIONS: Record<Conversion, (text: string, rules: CellRules) => Converted> = {
  text: (text) => ({ value: text }),
  number: readNumber,
  boolean: readBoolean,
  time: (text, { timezone }) => readTime(text, timezone),
  list: (text) => ({ value: splitList(text).map(trimText).filter(Boolean) }),
  choice: (text, { timezone }) => readChoice(text, timezone),
}

/**
 * Removes the apostrophe with which a spreadsheet marks a cell as text, and with which exports keep a cell from being
 * run as a formula. Other apostrophes are part of the text.
 */
export const withoutTextMark = (cell: string): string => cell.replace(/^(\s*)'(?=[\d+\-=@])/, '$1')

/** Items between commas. In a list with quotation marks they are written as in a CSV row. */
function splitList(text: string): string[] {
  if (!text.includes('"')) return text.split(',')
  try {
    return parse(text, { trim: true, relax_column_count: true }).flat()
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    // The quotation marks are part of the items: 12" pan, red.
    return text.split(',')
  }
}

function readNumber(text: string, { decimal, currency }: CellRules): Converted {
  const read = readDecimal(text, { decimal, threeDecimals: hasThreeDecimals(currency) })
  if ('number' in read) return { value: Number(read.number) }
  const code = read.fault === 'two_ways' ? 'cell_two_ways' : 'cell_number'
  return { fault: faultOf('', code, { sent: text.slice(0, SHOWN) }) }
}

function readBoolean(text: string): Converted {
  if (/^(true|yes|1)$/i.test(text)) return { value: true }
  if (/^(false|no|0)$/i.test(text)) return { value: false }
  return { fault: faultOf('', 'cell_boolean', { sent: text.slice(0, SHOWN) }) }
}

const CHOICES: Record<OptInAnswer, Converted> = {
  yes: { value: true },
  no: { value: false },
  none: { value: undefined },
}

/** Reads the word of a choice, or the date of an opt-in. Without a choice, the field is not sent. */
function readChoice(text: string, timezone: string): Converted {
  const answer = readOptIn(text)
  if (answer !== undefined) return CHOICES[answer]
  const read = readTime(text, timezone)
  if ('fault' in read || typeof read.value !== 'string' || readIso(read.value) !== undefined) return read
  return { fault: faultOf('', 'cell_choice', { sent: text.slice(0, SHOWN), ...OPT_IN_WORDS }) }
}

const DAY_LENGTH = 'YYYY-MM-DD'.length
const LOCAL = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?)?$/i

/**
 * Range for epoch milliseconds. Seconds and `202401311200` are far below it, microseconds and `20240131120000` far
 * above.
 */
const EARLIEST = Date.UTC(1990, 0)
const END = Date.UTC(2287, 0)

function readEpoch(number: number, text: string): Converted {
  if (number >= EARLIEST && number < END) return { value: number }
  return { fault: faultOf('', 'cell_epoch', { sent: text }) }
}

/**
 * Reads epoch milliseconds as digits, ISO 8601 (also with the space that databases print), and dates without an offset,
 * which are in `timezone`. If two instants are possible, the earlier one is used. The service checks any other text.
 */
function readTime(text: string, timezone: string): Converted {
  if (/^[+-]?\d+(\.\d+)?$/.test(text)) return readEpoch(Number(text), text)
  const iso = text.replace(/^(\d{4}-\d\d-\d\d) (?=\d\d:)/, '$1T').replace(/ (?=([+-]\d\d(:?\d\d)?|Z|UTC)$)/i, '')
  if (timezone === 'UTC' || !LOCAL.test(iso)) return { value: iso.replace(/UTC$/i, 'Z') }
  const local = readIso(iso)
  if (local === undefined) return { fault: faultOf('', 'cell_date', { sent: text }) }
  // A day may begin later than midnight. A time that was skipped by a clock change does not exist.
  const at = iso.length > DAY_LENGTH ? instantOf(timezone, local) : firstInstantFrom(timezone, local)
  if (iso.length > DAY_LENGTH && localAt(timezone, at) !== local)
    return { fault: faultOf('', 'cell_skipped', { sent: text, zone: timezone }) }
  return { value: new Date(at).toISOString().replace('.000Z', 'Z') }
}
