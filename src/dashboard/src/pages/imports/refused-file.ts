/** The refused rows as a file of the same columns: mend it, and import it again. */
import { csvText } from '../../csv.ts'
import type { Fault } from './faults.ts'
import type { MappedField } from './guess-mapping.ts'

/** Of the first column, with why the row was refused. The page leaves it out when it reads the file. */
const ERROR = 'error'
/** Of the events that are recorded, so that an opt-in that was mended does not record its event again. */
const EVENT_KEY = 'idempotencyKey'

export interface RefusedFile {
  name: string
  text: string
}

/** The file that they are of. */
export interface RefusedOf {
  file: { name: string }
  format: 'csv' | 'ndjson'
  /** Of a CSV file. */
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
  // The file may have been downloaded here before: its errors are replaced.
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

/** No two columns may have the same name. */
function freeName(name: string, taken: readonly string[]): string {
  for (let number = 1; ; number += 1) {
    const tried = number === 1 ? name : `${name} ${number}`
    if (!taken.includes(tried)) return tried
  }
}

/** A line without an object stays as it is. */
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
