/** Converts the text of a cell to a value of an event. NDJSON values that already have a type are not changed. */
import { readIso } from '../rules/events/read-iso.ts'
import { trimText } from '../rules/events/text.ts'
import { type Fault, faultOf } from '../rules/faults.ts'
import { firstInstantFrom, instantOf, localAt } from '../rules/time/zones.ts'

export type Conversion = 'text' | 'number' | 'boolean' | 'time' | 'list' | 'choice'

/** An empty cell gives an undefined `value`: the field is not sent. */
export type Converted = { value: unknown } | { fault: Fault }

export function conversionNamed(suffix = 'text'): Conversion | undefined {
  return suffix === 'text' || suffix === 'number' || suffix === 'boolean' ? suffix : undefined
}

export function convertCell(conversion: Conversion, cell: unknown, timezone: string): Converted {
  if (typeof cell === 'number' && (conversion === 'time' || conversion === 'choice'))
    return readEpoch(cell, String(cell))
  if (typeof cell !== 'string') return { value: cell }
  const text = trimText(cell)
  return text === '' ? { value: undefined } : CONVERSIONS[conversion](text, timezone)
}

const CONVERSIONS: Record<Conversion, (text: string, timezone: string) => Converted> = {
  text: (text) => ({ value: text }),
  number: readNumber,
  boolean: readBoolean,
  time: readTime,
  list: (text) => ({
    value: text.split(',').map(trimText).filter(Boolean),
  }),
  choice: readChoice,
}

/**
 * Reads plain decimals. A comma before one or two last digits separates decimals; before three digits, it could separate
 * thousands.
 */
function readNumber(text: string): Converted {
  if (/^[+-]?\d+,\d{1,2}$/.test(text)) return { value: Number(text.replace(',', '.')) }
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return { value: Number(text) }
  return { fault: faultOf('', 'cell_number', { sent: text }) }
}

function readBoolean(text: string): Converted {
  if (/^(true|yes|1)$/i.test(text)) return { value: true }
  if (/^(false|no|0)$/i.test(text)) return { value: false }
  return { fault: faultOf('', 'cell_boolean', { sent: text }) }
}

/** Reads yes, no, or the date of a yes. */
function readChoice(text: string, timezone: string): Converted {
  const read = readBoolean(text)
  return 'value' in read ? read : readTime(text, timezone)
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
