/**
 * The operators of rules, one row each. The types, the check, the OpenAPI document and the editors of the dashboard are
 * made from the rows; both interpreters must have an entry for each.
 */
import type { FieldType } from '../../events/facts.ts'

/** What an operator compares with. */
export type Operand = 'none' | 'days' | 'instant' | 'number' | 'range' | 'text' | 'texts' | 'stage' | 'stages'

interface OperatorRow {
  operand: Operand
  /** True when time alone changes its answer. */
  isTimed?: true
  /** True when it is only for custom fields: no other date is in the future. */
  isOfFields?: true
}

const known = { exists: { operand: 'none' }, not_exists: { operand: 'none' } } as const

/** By type of value. The lists of operators have this order. */
export const OPERATORS = {
  date: {
    ...known,
    within_days: { operand: 'days', isTimed: true },
    older_than_days: { operand: 'days', isTimed: true },
    before: { operand: 'instant' },
    after: { operand: 'instant' },
    within_next_days: { operand: 'days', isTimed: true, isOfFields: true },
  },
  number: {
    equals: { operand: 'number' },
    not_equals: { operand: 'number' },
    greater_than: { operand: 'number' },
    greater_than_or_equal: { operand: 'number' },
    less_than: { operand: 'number' },
    less_than_or_equal: { operand: 'number' },
    between: { operand: 'range' },
    ...known,
  },
  text: {
    equals: { operand: 'text' },
    not_equals: { operand: 'text' },
    contains: { operand: 'text' },
    starts_with: { operand: 'text' },
    ends_with: { operand: 'text' },
    in: { operand: 'texts' },
    ...known,
  },
  boolean: { is_true: { operand: 'none' }, is_false: { operand: 'none' }, ...known },
  stage: {
    equals: { operand: 'stage' },
    not_equals: { operand: 'stage' },
    in: { operand: 'stages' },
    at_least: { operand: 'stage' },
    at_most: { operand: 'stage' },
  },
  tag: { has: { operand: 'none' }, has_not: { operand: 'none' } },
  segment: { is_member: { operand: 'none' }, is_not_member: { operand: 'none' } },
} as const satisfies Record<string, Record<string, OperatorRow>>

type Rows = typeof OPERATORS
export type ValueType = keyof Rows
export type OperatorOf<Type extends ValueType> = Type extends ValueType ? keyof Rows[Type] & string : never
export type Operator = OperatorOf<ValueType>
export type TimedOperator = {
  [Name in OperatorOf<'date'>]: Rows['date'][Name] extends { isTimed: true } ? Name : never
}[OperatorOf<'date'>]

export const VALUE_TYPES = Object.keys(OPERATORS) as ValueType[]

/** The types of values of custom fields. */
export const TYPE_OF_FIELD = {
  Text: 'text',
  Number: 'number',
  Date: 'date',
  Boolean: 'boolean',
} as const satisfies Record<FieldType, ValueType>

export const FIELD_TYPES = Object.keys(TYPE_OF_FIELD) as FieldType[]

/** Returns the rows of a type of value, of custom fields or of all else. */
export function rowsOf<Type extends ValueType>(
  type: Type,
  isField = false,
): { operator: OperatorOf<Type>; operand: Operand }[] {
  const rows = Object.entries<OperatorRow>(OPERATORS[type])
  return rows.flatMap(([operator, { operand, isOfFields }]) =>
    isOfFields && !isField ? [] : [{ operator: operator as OperatorOf<Type>, operand }],
  )
}

export const operatorsOf = <Type extends ValueType>(type: Type, isField = false): OperatorOf<Type>[] =>
  rowsOf(type, isField).map(({ operator }) => operator)

/** Returns undefined for an operator that the type does not have. */
export function rowOf(type: ValueType, operator: unknown): OperatorRow | undefined {
  const rows: Record<string, OperatorRow> = OPERATORS[type]
  return typeof operator === 'string' && Object.hasOwn(rows, operator) ? rows[operator] : undefined
}

export const isTimedOperator = (operator: string): operator is TimedOperator =>
  rowOf('date', operator)?.isTimed === true

/** Returns the type that a custom field must have for a condition on it; null when any type will do. */
export function neededType({ operator, value }: { operator: string; value?: unknown }): FieldType | null {
  const types = FIELD_TYPES.filter((type) => rowOf(TYPE_OF_FIELD[type], operator) !== undefined)
  if (types.length === FIELD_TYPES.length) return null
  const [only = 'Text', ...others] = types
  // Texts and numbers have operators of the same name.
  return others.length > 0 && typeof value === 'number' ? 'Number' : only
}
