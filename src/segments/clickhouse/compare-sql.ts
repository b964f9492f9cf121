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

const COMPARISONS = {
  equals: '=',
  not_equals: '!=',
  greater_than: '>',
  greater_than_or_equal: '>=',
  less_than: '<',
  less_than_or_equal: '<=',
} as const

/** @param number SQL of the type Float64 */
export function numberSql(number: string, operator: NumberOperator, { value }: Operand): string {
  if (operator === 'exists' || operator === 'not_exists') return operator === 'exists' ? TRUE : FALSE
  if (operator === 'between') {
    const [from, to] = boundsOf(value)
    return `${number} between ${doubleLiteral(from)} and ${doubleLiteral(to)}`
  }
  return `${number} ${COMPARISONS[operator]} ${doubleLiteral(boundOf(value))}`
}

const doubleLiteral = (bound: RuleNumber): string => `toFloat64(${Number(bound)})`

/** @param decimal SQL with `scale` decimal places. Bounds of any length are compared exactly. */
export function decimalSql(decimal: string, scale: number, operator: NumberOperator, { value }: Operand): string {
  if (operator === 'exists' || operator === 'not_exists') return operator === 'exists' ? TRUE : FALSE
  const literal = (units: bigint) => decimalLiteral(units, scale)
  if (operator === 'between') {
    const [from, to] = boundsOf(value)
    return `${decimal} between ${literal(unitsAround(from, scale).ceil)} and ${literal(unitsAround(to, scale).floor)}`
  }
  const { floor, ceil } = unitsAround(boundOf(value), scale)
  if (operator === 'equals' || operator === 'not_equals') {
    if (floor !== ceil) return operator === 'equals' ? FALSE : TRUE
    return `${decimal} ${COMPARISONS[operator]} ${literal(floor)}`
  }
  const isUpwards = operator === 'greater_than' || operator === 'less_than_or_equal'
  return `${decimal} ${COMPARISONS[operator]} ${literal(isUpwards ? floor : ceil)}`
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
  if (operator === 'exists' || operator === 'not_exists') return operator === 'exists' ? TRUE : FALSE
  // In ClickHouse, `lower` changes only A to Z.
  const text = ignoreCase ? `lower(${given})` : given
  const [first = '', ...others] = textsOf(value, ignoreCase).map(textLiteral)
  switch (operator) {
    case 'equals':
      return `${text} = ${first}`
    case 'not_equals':
      return `${text} != ${first}`
    case 'contains':
      return `position(${text}, ${first}) > 0`
    case 'starts_with':
      return `startsWith(${text}, ${first})`
    case 'ends_with':
      return `endsWith(${text}, ${first})`
    case 'in':
      return `${text} in (${[first, ...others].join(', ')})`
  }
}

interface DateContext {
  /** Epoch milliseconds. */
  now: number
  /** As in `compileDateTest`. */
  mayBeAhead: boolean
}

/** @param at SQL of an instant in epoch milliseconds */
export function dateSql(
  at: string,
  operator: DateOperator,
  { value }: Operand,
  { now, mayBeAhead }: DateContext,
): string {
  switch (operator) {
    case 'exists':
      return TRUE
    case 'not_exists':
      return FALSE
    case 'before':
      return `${at} < ${instantOf(value)}`
    case 'after':
      return `${at} > ${instantOf(value)}`
    case 'within_next_days':
      return `${at} between ${now} and ${now + spanOf(value)}`
    case 'older_than_days':
      return `${at} < ${now - spanOf(value)}`
    case 'within_days':
      return mayBeAhead ? `${at} between ${now - spanOf(value)} and ${now}` : `${at} >= ${now - spanOf(value)}`
  }
}
