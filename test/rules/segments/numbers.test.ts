import { describe, expect, test } from 'vitest'
import type { SegmentFacts } from '../../../src/rules/segments/membership/facts.ts'
import { windowKey } from '../../../src/rules/segments/windows/window-key.ts'
import { factsOf, withEvent, withField } from './facts-of.ts'
import { holds } from './rule-of.ts'

const OPERATORS: [operator: string, value: unknown, less: boolean, equal: boolean, greater: boolean][] = [
  ['equals', 3, false, true, false],
  ['not_equals', 3, true, false, true],
  ['greater_than', 3, false, false, true],
  ['greater_than_or_equal', 3, false, true, true],
  ['less_than', 3, true, false, false],
  ['less_than_or_equal', 3, true, true, false],
  ['between', [3, 3], false, true, false],
  ['between', [2, 4], true, true, true],
  ['between', [3, 10], false, true, true],
  ['between', [-1, 3], true, true, false],
  ['exists', undefined, true, true, true],
  ['not_exists', undefined, false, false, false],
]

const window = { event: 'purchase', metric: 'count', withinDays: 30 } as const
const sum = { event: 'purchase', metric: 'sum', property: 'value', currency: 'EUR' } as const
const keyOf = (condition: typeof window | typeof sum) => windowKey({ ...condition, operator: 'exists' })

const SOURCES: [name: string, words: object, factsWith: (number: number) => SegmentFacts][] = [
  ['the count of an event', { event: 'purchase', metric: 'count' }, (count) => withEvent({ count })],
  ['a custom field', { customField: 'field' }, (number) => withField(number)],
  ['orderCount', { attribute: 'orderCount' }, (orderCount) => factsOf({ orderCount })],
  ['revenue', { attribute: 'revenue' }, (number) => factsOf({ revenue: new Map([['EUR', `${number}.000000`]]) })],
  ['a windowed count', window, (number) => factsOf({ windows: new Map([[keyOf(window), String(number)]]) })],
  ['a sum', sum, (number) => factsOf({ windows: new Map([[keyOf(sum), String(number)]]) })],
]

describe.each(SOURCES)('%s', (name, words, factsWith) => {
  const world = { fields: { field: 'Number' } } as const

  test.each(OPERATORS)('%s %j', (operator, value, less, equal, greater) => {
    const answers = [2, 3, 4].map((number) => holds({ ...words, operator, value }, factsWith(number), 0, world))
    expect(answers).toEqual([less, equal, greater])
  })

  test.each(OPERATORS.filter(() => name !== 'orderCount'))(
    '%s %j of nothing: undefined is never zero',
    (operator, value) => {
      for (const of of [value, Array.isArray(value) ? [-1, 1] : value === undefined ? undefined : 0])
        expect(holds({ ...words, operator, value: of }, factsOf(), 0, world)).toBe(operator === 'not_exists')
    },
  )
})

test('orderCount is 0, never undefined', () => {
  const orders = (operator: string, value?: number) => holds({ attribute: 'orderCount', operator, value }, factsOf())
  expect([orders('equals', 0), orders('less_than', 1), orders('exists'), orders('not_exists')]).toEqual([
    true,
    true,
    true,
    false,
  ])
})

test('fewer than 3 times holds for who did it once; never counts only where the rule says so', () => {
  const few = { event: 'purchase', metric: 'count', operator: 'less_than', value: 3 }
  const never = { event: 'purchase', metric: 'last', operator: 'not_exists' }
  expect(holds(few, withEvent({ count: 1 }))).toBe(true)
  expect(holds(few, factsOf())).toBe(false)
  expect(holds({ not: few }, factsOf())).toBe(true)
  expect(holds({ any: [few, never] }, factsOf())).toBe(true)
})

describe('revenue', () => {
  const revenue = (operator: string, value: unknown, amount: string, words: object = {}) =>
    holds({ attribute: 'revenue', operator, value, ...words }, factsOf({ revenue: new Map([['EUR', amount]]) }))

  test('is compared as exact decimals', () => {
    expect(revenue('equals', 0.3, '0.300000')).toBe(true)
    expect(revenue('equals', '0.30', '0.3')).toBe(true)
    expect(revenue('equals', 1e15, '1000000000000000.000001')).toBe(false)
    expect(revenue('greater_than', 1e15, '1000000000000000.000001')).toBe(true)
    expect(revenue('equals', '1000000000000000.000001', '1000000000000000.000001')).toBe(true)
    expect(revenue('less_than', '1000000000000000.000002', '1000000000000000.000001')).toBe(true)
    expect(revenue('between', [1e15, '1000000000000000.000001'], '1000000000000000.000001')).toBe(true)
    expect(revenue('between', [1e15, '1000000000000000.0000009'], '1000000000000000.000001')).toBe(false)
    expect(revenue('greater_than', '-9007199254740993', '-9007199254740992')).toBe(true)
    expect(revenue('less_than', '-9007199254740992', '-9007199254740993')).toBe(true)
    expect(revenue('equals', -0, '0')).toBe(true)
    expect(revenue('equals', '-0.00', '0')).toBe(true)
    expect(revenue('equals', 1e-7, '0')).toBe(false)
    expect(revenue('less_than', 1e300, '1')).toBe(true)
    expect(revenue('less_than', '9'.repeat(64), '9'.repeat(63))).toBe(true)
  })

  test('a purchase of 0 defines it', () => {
    expect(revenue('equals', 0, '0')).toBe(true)
    expect(revenue('exists', undefined, '0')).toBe(true)
  })

  test('is of the currency named, in any letter case, else of the business', () => {
    expect(revenue('exists', undefined, '1', { currency: 'eur' })).toBe(true)
    expect(revenue('exists', undefined, '1', { currency: ' Eur ' })).toBe(true)
    expect(revenue('exists', undefined, '1', { currency: 'USD' })).toBe(false)
    const usd = factsOf({ revenue: new Map([['USD', '5']]) })
    const five = { attribute: 'revenue', operator: 'equals', value: 5 }
    expect(holds(five, usd, 0, { currency: 'usd' })).toBe(true)
    expect(holds(five, usd, 0, { currency: 'EUR' })).toBe(false)
  })
})

test('sums beyond the range of one amount are exact', () => {
  const facts = factsOf({ windows: new Map([[keyOf(sum), '123456789012345678901234.000001']]) })
  expect(holds({ ...sum, operator: 'greater_than', value: '123456789012345678901234' }, facts)).toBe(true)
  expect(holds({ ...sum, operator: 'equals', value: '123456789012345678901234' }, facts)).toBe(false)
})

test('numbers of custom fields are compared as doubles', () => {
  const is = (value: number, stored: number) =>
    holds({ customField: 'field', operator: 'equals', value }, withField(stored), 0, { fields: { field: 'Number' } })
  expect(is(0.3, 0.1 + 0.2)).toBe(false)
  expect(is(0.1 + 0.2, 0.1 + 0.2)).toBe(true)
  expect(is(-0, 0)).toBe(true)
  expect(is(1e21, 1e21)).toBe(true)
})
