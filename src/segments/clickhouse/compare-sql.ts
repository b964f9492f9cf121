/** Operators of conditions as ClickHouse SQL, equal to those of src/rules/segments. Each takes a defined value. */
import { instantOf, spanOf } from '../../rules/segments/compile/compare-dates.ts'
import { boundOf, boundsOf } from '../../rules/segments/compile/compare-numbers.ts'
import { textsOf } from '../../rules/segments/compile/compare-texts.ts'
import { unitsAround } from '../../rules/segments/decimals.ts'
import type { DateOperator, NumberOperator, RuleNumber, RuleValue, TextOperator } from '../../rules/segments/rule.ts'
import { textLiteral } from '../../stores/clickhouse-literal.ts'

/** What an operator compares with. */
export interface Operand {
  value?: RuleValue
  ignoreCase?: boolean
}

export const TRUE = '1'
export const FALSE = '0'

/**
 * A condition on one value. When it is undefined, `not_exists` is true and every other operator is false.
 * @param test condition on a defined value
 */
export function conditionSql(isDefined: string, operator: string, test: string): string {
  if (operator === 'not_exists') return `not (${isDefined})`
  return operator === 'exists' ? `(${isDefined})` : `(${isDefined} and ${test})`
}

/** Operators that hold of every defined value, and of none. */
export const KNOWN = { exists: () => TRUE, not_exists: () => FALSE } as const

/** @param number SQL of the type Float64 */
export const numberSql = (number: string, operator: NumberOperator, { value }: Operand): string =>
  NUMBERS[operator](number, value)

const withBound =
  (comparison: string) =>
  (number: string, value: Operand['value']): string =>
    `${number} ${comparison} ${doubleLiteral(boundOf(value))}`

const NUMBERS: Record<NumberOperator, (number: string, value: Operand['value']) => string> = {
  ...KNOWN,
  equals: withBound('='),
  not_equals: withBound('!='),
  greater_than: withBound('>'),
  greater_than_or_equal: withBound('>='),
  less_than: withBound('<'),
  less_than_or_equal: withBound('<='),
  between: (number, value) => {
    const [from, to] = boundsOf(value)
    return `${number} between ${doubleLiteral(from)} and ${doubleLiteral(to)}`
  },
}

const doubleLiteral = (bound: RuleNumber): string => `toFloat64(${Number(bound)})`

/** @param decimal SQL with `scale` decimal places. Bounds of any length are compared exactly. */
export const decimalSql = (decimal: string, scale: number, operator: NumberOperator, { value }: Operand): string =>
  DECIMALS[operator](decimal, scale, value)

type DecimalSql = (decimal: string, scale: number, value: Operand['value']) => string

/** `side`: the neighbour of the bound, among the decimals with the scale, that gives the same comparison. */
const withDecimal =
  (comparison: string, side: 'floor' | 'ceil'): DecimalSql =>
  (decimal, scale, value) =>
    `${decimal} ${comparison} ${decimalLiteral(unitsAround(boundOf(value), scale)[side], scale)}`

/** A bound between two decimals with the scale equals none of them. */
const withEqual =
  (comparison: string, otherwise: string): DecimalSql =>
  (decimal, scale, value) => {
    const { floor, ceil } = unitsAround(boundOf(value), scale)
    return floor === ceil ? `${decimal} ${comparison} ${decimalLiteral(floor, scale)}` : otherwise
  }

const DECIMALS: Record<NumberOperator, DecimalSql> = {
  ...KNOWN,
  equals: withEqual('=', FALSE),
  not_equals: withEqual('!=', TRUE),
  greater_than: withDecimal('>', 'floor'),
  greater_than_or_equal: withDecimal('>=', 'ceil'),
  less_than: withDecimal('<', 'ceil'),
  less_than_or_equal: withDecimal('<=', 'floor'),
  between: (decimal, scale, value) => {
    const [from, to] = boundsOf(value)
    const [first, last] = [unitsAround(from, scale).ceil, unitsAround(to, scale).floor]
    return `${decimal} between ${decimalLiteral(first, scale)} and ${decimalLiteral(last, scale)}`
  },
}

/** Greater than every sum, and within the type Decimal256. */
const MOST_UNITS = 10n ** 75n

function decimalLiteral(units: bigint, scale: number): string {
  const near = units > MOST_UNITS ? MOST_UNITS : units < -MOST_UNITS ? -MOST_UNITS : units
  const digits = String(near < 0n ? -near : near).padStart(scale + 1, '0')
  return `toDecimal256('${near < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}', ${scale})`
}

/** Equal UTF-8 bytes mean equal code units, and parts of texts begin and end between characters in both. */
export function textSql(given: string, operator: TextOperator, { value, ignoreCase = false }: Operand): string {
  // In ClickHouse, `lower` changes only A to Z.
  const text = ignoreCase ? `lower(${given})` : given
  return TEXTS[operator](text, textsOf(value, ignoreCase).map(textLiteral))
}

const TEXTS: Record<TextOperator, (text: string, literals: string[]) => string> = {
  ...KNOWN,
  equals: (text, [first]) => `${text} = ${first}`,
  not_equals: (text, [first]) => `${text} != ${first}`,
  contains: (text, [first]) => `position(${text}, ${first}) > 0`,
  starts_with: (text, [first]) => `startsWith(${text}, ${first})`,
  ends_with: (text, [first]) => `endsWith(${text}, ${first})`,
  in: (text, literals) => `${text} in (${literals.join(', ')})`,
}

interface DateContext {
  /** Epoch milliseconds. */
  now: number
  /** As in `compileDateTest`. */
  mayBeAhead: boolean
}

/** @param at SQL of an instant in epoch milliseconds */
export const dateSql = (at: string, operator: DateOperator, { value }: Operand, context: DateContext): string =>
  DATES[operator](at, value, context)

const DATES: Record<DateOperator, (at: string, value: Operand['value'], context: DateContext) => string> = {
  ...KNOWN,
  before: (at, value) => `${at} < ${instantOf(value)}`,
  after: (at, value) => `${at} > ${instantOf(value)}`,
  within_next_days: (at, value, { now }) => `${at} between ${now} and ${now + spanOf(value)}`,
  older_than_days: (at, value, { now }) => `${at} < ${now - spanOf(value)}`,
  within_days: (at, value, { now, mayBeAhead }) =>
    mayBeAhead ? `${at} between ${now - spanOf(value)} and ${now}` : `${at} >= ${now - spanOf(value)}`,
}
