/** Random events, and random conditions on their properties. */
import * as fc from 'fast-check'
import type { PropertyCondition } from '../../src/rules/segments/rule.ts'
import { instant } from '../rules/segments/worlds.ts'
import type { Happened } from './naive-windows.ts'

const oneOf = fc.constantFrom
const NUMBERS = [0.1, 0.2, -3, 5, 1e-7, 1e20, -2e19, 123456.789]
const PROPERTIES: fc.Arbitrary<unknown> = fc.oneof(
  fc.constant(null),
  fc.record(
    {
      item: fc.record({ category: oneOf('shoes', 'Shoes', 'hats', 5, null), price: oneOf<unknown>(...NUMBERS, '5') }),
      items: fc.array(oneOf({ sku: 'a"b\\' }, { sku: 'b' }, 7, [1, 2]), { maxLength: 3 }),
      'a.b': oneOf<unknown>('x', true, false, 'é😀'),
      big: oneOf<unknown>(1e20, 18446744073709552000, [1e20, { deep: -1e20 }], '[12345678901234567890,'),
      value: oneOf<unknown>('of no use', 1),
      '0': oneOf<unknown>({ '1': 'digits' }, 5),
    },
    { requiredKeys: [] },
  ),
)
export const happened: fc.Arbitrary<Happened> = fc.record({
  event: oneOf('purchase', '__proto__', 'constructor', 'visit'),
  at: instant(),
  properties: PROPERTIES,
  value: oneOf(null, ...NUMBERS),
  currency: oneOf(null, 'EUR', 'USD'),
  counted: oneOf('0', '12.500000', '-0.000001', '1000000000000000'),
  type: oneOf('purchase', 'refund', 'none'),
})

const operation: fc.Arbitrary<Omit<PropertyCondition, 'property'>> = fc.oneof(
  fc.record({ operator: oneOf('exists' as const, 'not_exists' as const, 'is_true' as const, 'is_false' as const) }),
  fc.record({
    operator: oneOf('equals' as const, 'not_equals' as const, 'greater_than' as const, 'less_than_or_equal' as const),
    value: oneOf(0.1, 5, -3, 1e20, -1e20, 18446744073709552000),
  }),
  fc.record({ operator: fc.constant('between' as const), value: oneOf<[number, number][]>([0.1, 5], [-1e20, 1e20]) }),
  fc.record({
    operator: oneOf('equals' as const, 'not_equals' as const, 'contains' as const, 'starts_with' as const),
    value: oneOf('shoes', 'SHOES', 'a"b\\', 'é😀', 'digits', 'x', '[12345678901234567890,', 'EUR', 'purchase'),
    ignoreCase: fc.boolean(),
  }),
  fc.record({
    operator: fc.constant('in' as const),
    value: oneOf<string[][]>(['shoes', 'hats'], ['EUR', 'none', 'x']),
  }),
)
const PATHS =
  'item.category item.price item items.0.sku items.1 items.3.0 items.sku a\\.b a.b big big.0 big.1.deep 0.1 0 value currency type nothing'.split(
    ' ',
  )
export const propertyCondition: fc.Arbitrary<PropertyCondition> = fc
  .record({
    property: oneOf(...PATHS),
    operation,
  })
  .filter(({ property, operation: { operator, value } }) => suits(property, operator, value))
  .map(({ property, operation: rest }) => ({ property, ...rest }))

/** Operators for `value` are those of numbers. Operators for `currency` and `type` are those of texts. */
function suits(property: string, operator: string, value: unknown): boolean {
  if (!['value', 'currency', 'type'].includes(property) || operator.endsWith('exists')) return true
  const isNumber = [value].flat().every((one) => typeof one === 'number')
  return value !== undefined && isNumber === (property === 'value')
}
