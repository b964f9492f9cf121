import type { NumberOperator, RuleNumber, RuleValue } from '../rule.ts'

/** Compares a value with one number: negative when less, 0 when equal, positive when greater. */
type Comparer<Value> = (value: Value) => number

/**
 * Returns a test of whether a defined value satisfies a number operator. `comparerWith` makes the comparison with one
 * number of the rule.
 */
export const compileComparison = <Value>(
  operator: NumberOperator,
  value: RuleValue | undefined,
  comparerWith: (bound: RuleNumber) => Comparer<Value>,
): ((value: Value) => boolean) => TESTS[operator](value, comparerWith)

type CompileTest = <Value>(
  value: RuleValue | undefined,
  comparerWith: (bound: RuleNumber) => Comparer<Value>,
) => (value: Value) => boolean

const withBound =
  (fits: (difference: number) => boolean): CompileTest =>
  (value, comparerWith) => {
    const compare = comparerWith(boundOf(value))
    return (number) => fits(compare(number))
  }

const TESTS: Record<NumberOperator, CompileTest> = {
  exists: () => () => true,
  not_exists: () => () => false,
  equals: withBound((difference) => difference === 0),
  not_equals: withBound((difference) => difference !== 0),
  greater_than: withBound((difference) => difference > 0),
  greater_than_or_equal: withBound((difference) => difference >= 0),
  less_than: withBound((difference) => difference < 0),
  less_than_or_equal: withBound((difference) => difference <= 0),
  between: (value, comparerWith) => {
    const [from, to] = boundsOf(value)
    const [compareFrom, compareTo] = [comparerWith(from), comparerWith(to)]
    return (number) => compareFrom(number) >= 0 && compareTo(number) <= 0
  },
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
