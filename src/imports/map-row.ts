/** Maps the columns of a file to the fields of an event. */
import { CHANNELS } from '../rules/events/facts.ts'
import { type Fault, faultOf } from '../rules/faults.ts'
import { type Conversion, EVENT_FIELDS } from '../rules/imports/event-fields.ts'
import type { DecimalSign } from '../rules/imports/read-decimal.ts'
import { convertCell, conversionNamed, withoutTextMark } from './convert-cell.ts'
import { trimText } from '../rules/events/text.ts'
import { ImportError } from './import-error.ts'

/** The source of one field. `path` has one or two parts, such as `['traits', 'plan']`. */
export interface Assignment {
  path: string[]
  conversion: Conversion
  from: { column: string } | { fixed: string }
}

export interface Mapping {
  /** Constants come last, so that they override columns. */
  assignments: Assignment[]
  /** Time zone of dates without an offset. */
  timezone: string
  /** The sign that separates decimals. Undefined: as far as the cell shows it. */
  decimal?: DecimalSign | undefined
  /** What becomes of a row whose mapped time is empty: it fails, or it is left out. */
  withoutTime?: WithoutTime | undefined
  /** Whether cells are from a spreadsheet, which may mark them as text. */
  isCsv?: boolean
}

export const WITHOUT_TIME = ['fail', 'skip'] as const
export type WithoutTime = (typeof WITHOUT_TIME)[number]

/** An event as it will be sent. The service checks it. */
export type MappedEvent = Record<string, unknown>
/** `isLeftOut`: the mapping says that such rows are left out, so they do not count as failed. */
export type Mapped = { event: MappedEvent } | { fault: Fault; isLeftOut?: true }

const FIELDS = new Map<string, { conversion: Conversion }>(Object.entries(EVENT_FIELDS))
const SHORT = ['email', 'phone', 'platformCustomerId']

const usageError = (message: string) => new ImportError('usage', message)

/** Reads `--map FIELD=COLUMN` and `--set FIELD=VALUE`. Throws ImportError. */
export function readMapping(
  maps: string[],
  sets: string[],
  timezone: string,
  options: Omit<Mapping, 'assignments' | 'timezone'> = {},
): Mapping {
  const fixed = sets.map((text) => readAssignment('--set', text, (value) => ({ fixed: value })))
  const mapped = maps.map((text) => readAssignment('--map', text, (column) => ({ column })))
  return { assignments: [...mapped, ...fixed], timezone, ...options }
}

function readAssignment(option: string, text: string, from: (right: string) => Assignment['from']): Assignment {
  const [, field = '', right = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  if (!field || !right)
    throw usageError(`${option} must be FIELD=${option === '--map' ? 'COLUMN' : 'VALUE'}, not "${text}"`)
  const found = readField(field.trim())
  if (found === null) throw usageError(`${option}: there is no field "${field.trim()}". ${FIELD_LIST}`)
  return { ...found, from: from(option === '--map' ? right.trim() : right) }
}

/** The key of a topic, and a channel. The service knows which ones there are. */
const TOPIC_FIELD = new RegExp(String.raw`^topic\.(\w{1,64}\.(?:${CHANNELS.join('|')}))$`)

const FIELD_LIST = `The fields are ${[...FIELDS.keys(), 'topic.KEY.CHANNEL', 'traits.NAME', 'properties.NAME'].join(', ')} (the last two also as NAME:number, NAME:boolean)`

/**
 * Parses, for example, `traits.lessons:number` into its path and the conversion of its cells. Null when there is no
 * such field.
 */
export function readField(text: string): Pick<Assignment, 'path' | 'conversion'> | null {
  const field = SHORT.includes(text) ? `identity.${text}` : text
  const known = FIELDS.get(field)
  if (known) return { path: field.split('.'), conversion: known.conversion }
  const topic = TOPIC_FIELD.exec(field)?.[1]
  if (topic !== undefined) return { path: ['topic', topic], conversion: 'choice' }
  const [, group, key = '', suffix] = /^(traits|properties)\.(.+?)(?::(\w+))?$/.exec(field) ?? []
  const conversion = conversionNamed(suffix)
  return group && conversion ? { path: [group, key], conversion } : null
}

/**
 * Throws ImportError when the mapping lacks a required field, or names a column that the file does not have. `columns`
 * is null for NDJSON.
 */
export function checkMapping({ assignments }: Mapping, columns: string[] | null): void {
  if (columns === null && isWhole(assignments)) return
  for (const { from } of assignments) {
    if (columns && 'column' in from && !columns.includes(from.column))
      throw usageError(
        `There is no column "${from.column}". The columns are ${columns.filter(Boolean).join(', ')}. ${hint(columns)}`,
      )
  }
  const missing = missingField(assignments)
  const only = columns === null ? '. With any --map, only mapped fields are taken' : ''
  if (missing === 'event')
    throw usageError(`The events need a name. Give --set event=NAME or --map event=COLUMN${only}`)
  if (missing === 'identity')
    throw usageError(`The events need a person. Give an identity, such as --map identity.email=COLUMN${only}`)
}

/** Returns the required field that no assignment provides; null when there is none. */
export function missingField(assignments: Assignment[]): 'event' | 'identity' | null {
  const groups = new Set(assignments.map(({ path }) => path[0]))
  return (['event', 'identity'] as const).find((group) => !groups.has(group)) ?? null
}

/** Suggests the most likely reason for a column that does not exist. */
function hint([column = '', ...others]: string[]): string {
  const [delimiter] = /[;\t|]/.exec(others.length === 0 ? column : '') ?? []
  if (delimiter === undefined) return 'For a constant, use --set FIELD=VALUE'
  return `If the cells have another delimiter, give --delimiter '${delimiter === '\t' ? '\\t' : delimiter}'`
}

/** Without any --map, the whole row is the event. */
const isWhole = (assignments: Assignment[]): boolean => assignments.every(({ from }) => 'fixed' in from)

/** Reads the time and the opt-ins of such a row like mapped ones, unless `--set` provides others. */
const OWN: Assignment[] = [
  { path: ['occurredAt'], conversion: 'time', from: { column: 'occurredAt' } },
  ...CHANNELS.map((channel): Assignment => {
    const path = ['optIn', channel]
    return { path, conversion: 'choice', from: { column: path.join('.') } }
  }),
]

/** Returns the event of one row, or the reason why it cannot be read. */
export function mapRow(mapping: Mapping, values: Record<string, unknown>): Mapped {
  const { assignments } = mapping
  if (!isWhole(assignments)) return isUndated(mapping, values) ? withoutTime(mapping) : assign(mapping, {}, values)
  const isSet = ({ path }: Assignment) => assignments.some((one) => one.path.join('.') === path.join('.'))
  const own = OWN.filter((one) => !isSet(one) && cellOf(mapping, one, values) !== undefined)
  const event = structuredClone(values)
  // A word for no choice leaves nothing of the channel.
  for (const { path } of own.filter((one) => one.path[0] === 'optIn')) place(event, path, undefined)
  return assign({ ...mapping, assignments: [...own, ...assignments] }, event, values)
}

/** Whether a time is mapped and all of its cells are empty. The event would be dated now. */
function isUndated(mapping: Mapping, values: Record<string, unknown>): boolean {
  const times = mapping.assignments.filter(({ path }) => path[0] === 'occurredAt')
  return times.length > 0 && times.every((one) => isEmpty(cellOf(mapping, one, values)))
}

const isEmpty = (cell: unknown): boolean => cell == null || (typeof cell === 'string' && trimText(cell) === '')

const withoutTime = ({ withoutTime: what }: Mapping): Mapped => ({
  fault: placeFault(faultOf('', 'cell_no_time'), 'occurredAt'),
  ...(what === 'skip' && { isLeftOut: true }),
})

function assign(mapping: Mapping, event: MappedEvent, values: Record<string, unknown>): Mapped {
  const { timezone, decimal } = mapping
  const currency = currencyOf(mapping, values)
  for (const assignment of mapping.assignments) {
    const { path, conversion } = assignment
    const rules = { timezone, decimal, ...(path[0] === 'value' && { currency }) }
    const read = convertCell(conversion, cellOf(mapping, assignment, values), rules)
    if ('fault' in read) return { fault: placeFault(read.fault, path.join('.')) }
    if (read.value !== undefined) place(event, path, read.value)
  }
  return { event }
}

const currencyOf = (mapping: Mapping, values: Record<string, unknown>): unknown =>
  mapping.assignments
    .filter(({ path }) => path[0] === 'currency')
    .map((one) => cellOf(mapping, one, values))
    .findLast((cell) => !isEmpty(cell))

/** Adds the path to a fault that begins with the sent value, or is a complete sentence. */
export const placeFault = (fault: Fault, path: string): Fault => ({
  ...fault,
  path,
  message: `${path}: ${fault.message}`,
})

/** Returns the source of a field, without the mark of a spreadsheet. */
function cellOf({ isCsv = true }: Mapping, { from }: Assignment, values: Record<string, unknown>): unknown {
  if ('fixed' in from) return from.fixed
  const cell = valueAt(values, from.column)
  return isCsv && typeof cell === 'string' ? withoutTextMark(cell) : cell
}

/** Returns the value of a CSV column or of a JSON key, which may be nested (`user.email`). */
function valueAt(values: Record<string, unknown>, column: string): unknown {
  if (Object.hasOwn(values, column)) return values[column]
  return column.split('.').reduce<unknown>((part, key) => {
    const inside = typeof part === 'object' && part !== null && Object.hasOwn(part, key)
    return inside ? (part as Record<string, unknown>)[key] : undefined
  }, values)
}

function place(event: MappedEvent, [first = '', second]: string[], value: unknown): void {
  if (second === undefined) event[first] = value
  else event[first] = { ...(event[first] as object | undefined), [second]: value }
}
