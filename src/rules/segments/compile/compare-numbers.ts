import type { NumberOperator, RuleNumber, RuleValue } from '../rule.ts'

/** Compares a value with one number: negative when less, 0 when equal, positive when greater. */
type Comparer<Value> = (value: Value) => number

/**
 * Returns a test of whether a defined value satisfies a number operator. `comparerWith` makes the comparison with one
 * number of the rule.
 */
export function compileComparison<Value>(
  operator: NumberOperator,
  value: RuleValue | undefined,
  comparerWith: (bound: RuleNumber) => Comparer<Value>,
): (value: Value) => boolean {
  if (operator === 'exists') return () => true
  if (operator === 'not_exists') return () => false
  if (operator === 'between') return compileRange(boundsOf(value), comparerWith)
  const compare = comparerWith(boundOf(value))
  switch (operator) {
    case 'equals':
      return (number) => compare(number) === 0
    case 'not_equals':
      return (number) => compare(number) !== 0
    case 'greater_than':
      return (number) => compare(number) > 0
    case 'greater_than_or_equal':
      return (number) => compare(number) >= 0
    case 'less_than':
      return (number) => compare(number) < 0
    case 'less_than_or_equal':
      return (number) => compare(number) <= 0
  }
}

function compileRange<Value>(
  [from, to]: readonly [RuleNumber, RuleNumber],
  comparerWith: (bound: RuleNumber) => Comparer<Value>,
): (value: Value) => boolean {
  const [compareFrom, compareTo] = [comparerWith(from), comparerWith(to)]
  return (number) => compareFrom(number) >= 0 && compareTo(number) <= 0
}

export const comparerWithNumber =
  (bound: RuleNumber): Comparer<number> =>
  (number) =>
    number - Number(bound)

export function boundOf(value: RuleValue | undefined): RuleNumber {
  if (typeof value === 'number' || typeof value === 'string') return value
  throw new Error('the rule was not checked: an operator of numbers has no number')
}

export function boundsOf(value: RuleValue | undefined): readonly [RuleNumber, RuleNumber] {
  const [from, to] = Array.isArray(value) ? value : []
  if (from === undefined || to === undefined) throw new Error('the rule was not checked: between has no two numbers')
  return [from, to]
}
