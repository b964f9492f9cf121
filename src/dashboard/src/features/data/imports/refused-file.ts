/** The rejected rows as a file with the same columns, to be corrected and imported again. */
import { csvText } from '../../../csv.ts'
import type { Fault } from './faults.ts'
import type { MappedField } from './guess-mapping.ts'

/** First column: why the row was rejected. The page ignores the column when it reads the file. */
const ERROR = 'error'
/**
 * Column with the keys of recorded events, so that importing a row with a corrected opt-in does not record its event
 * again.
 */
const EVENT_KEY = 'idempotencyKey'

export interface RefusedFile {
  name: string
  text: string
}

/** The file that the rows are from. */
export interface RefusedOf {
  file: { name: string }
  format: 'csv' | 'ndjson'
  /** Columns of a CSV file. */
  columns: readonly string[]
}

export function refusedFile(
  { file, format, columns }: RefusedOf,
  { mapping }: { mapping: readonly MappedField[] },
  faults: readonly Fault[],
): RefusedFile {
  const hasOwnKey = mapping.some(({ field }) => field === EVENT_KEY)
  const keyed = hasOwnKey ? faults.map((fault) => ({ ...fault, eventKey: null })) : faults
  const name = `${file.name.replace(/(-refused)?\.[^.]*$/, '')}-refused.${format}`
  if (format === 'ndjson') return { name, text: keyed.map((fault) => `${lineOf(fault)}\n`).join('') }
  // The file may itself be a download from this page. Its errors are then replaced.
  const isOurs = columns[0] === ERROR && !mapping.some(({ column }) => column === ERROR)
  const own = columns.slice(isOurs ? 1 : 0)
  const hasKeys = keyed.some(({ eventKey }) => eventKey !== null)
  const header = [freeName(ERROR, own), ...(hasKeys ? [freeName(EVENT_KEY, own)] : []), ...own]
  const rows = keyed.map(({ error, eventKey, source }) => [
    error,
    ...(hasKeys ? [eventKey] : []),
    ...source.slice(isOurs ? 1 : 0),
  ])
  return { name, text: csvText([header, ...rows]) }
}

/** Returns a name that no other column has. */
function freeName(name: string, taken: readonly string[]): string {
  for (let number = 1; ; number += 1) {
    const tried = number === 1 ? name : `${name} ${number}`
    if (!taken.includes(tried)) return tried
  }
}

/** A line that is not an object is returned unchanged. */
function lineOf({ error, eventKey, source: [line = ''] }: Fault): string {
  const read = readObject(line)
  return read === null
    ? line
    : JSON.stringify({ ...(eventKey !== null && { [EVENT_KEY]: eventKey }), ...read, [ERROR]: error })
}

function readObject(line: string): object | null {
  try {
    const read: unknown = JSON.parse(line)
    return typeof read === 'object' && !Array.isArray(read) ? read : null
  } catch {
    return null
  }
}
