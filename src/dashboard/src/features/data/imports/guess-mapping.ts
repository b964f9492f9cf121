/** Guesses the field of a column from its name. */
import { EVENT_FIELDS, EVENT_FIELD_NAMES, type EventFieldName } from '../../../../../rules/imports/event-fields.ts'

export const OFFERED_FIELDS = EVENT_FIELD_NAMES.filter((name) => EVENT_FIELDS[name].columns !== null)

/** Columns of Stripe's export of payments. */
const PAYMENT = ['id', 'createddateutc', 'amount', 'currency']

/** Fields that take the name of the column. */
export const NAMED_FIELDS = [
  'trait',
  'trait:number',
  'trait:boolean',
  'property',
  'property:number',
  'property:boolean',
] as const
export type NamedField = (typeof NAMED_FIELDS)[number]
/** Empty: the column is omitted. */
export type Target = EventFieldName | NamedField | ''

/** Returns the field of each column. No field is used twice. A column without a name holds nothing. */
export function guessMapping(columns: readonly string[]): Record<string, Target> {
  const names = columns.map((column) => column.toLowerCase().replaceAll(/[^a-z]/g, ''))
  const isId = idOf(names)
  const taken = new Set<EventFieldName>()
  return Object.fromEntries(
    columns.map((column, index): [string, Target] => {
      const name = names[index] ?? ''
      const fits = (field: EventFieldName) =>
        EVENT_FIELDS[field].columns?.test(name) || (field === 'idempotencyKey' && name !== '' && name === isId)
      const field = OFFERED_FIELDS.find((one) => fits(one) && !taken.has(one))
      if (field !== undefined) taken.add(field)
      return [column, field ?? '']
    }),
  )
}

/**
 * Returns the name of a column that identifies an order or a payment, though many files call something else so. A wrong
 * key would lose events: an id beside an amount may as well be that of a person or a product. Shops write an order in
 * several rows, one for each item, with its name in all of them.
 */
function idOf(names: readonly string[]): string | undefined {
  if (names.some((name) => EVENT_FIELDS.idempotencyKey.columns.test(name))) return undefined
  if (names.includes('name') && names.some((name) => name.startsWith('lineitem'))) return 'name'
  return PAYMENT.every((name) => names.includes(name)) ? 'id' : undefined
}

export interface MappedField {
  field: string
  column?: string
  value?: string
}

/**
 * Returns the mapping in the server's format. `fixed` has fields with the same value in every row; empty ones are
 * omitted.
 */
export function mappingOf(
  targets: Record<string, Target>,
  fixed: Partial<Record<EventFieldName, string>>,
): MappedField[] {
  const mapped = Object.entries(targets).flatMap(([column, target]) =>
    target === '' ? [] : [{ field: fieldOf(target, column), column }],
  )
  const same = Object.entries(fixed).flatMap(([field, value]) => (value.trim() === '' ? [] : [{ field, value }]))
  return [...mapped, ...same]
}

function fieldOf(target: Exclude<Target, ''>, column: string): string {
  const [kind, conversion] = target.split(':')
  if (kind !== 'trait' && kind !== 'property') return target
  const group = kind === 'trait' ? 'traits' : 'properties'
  return conversion === undefined ? `${group}.${column}` : `${group}.${column}:${conversion}`
}
