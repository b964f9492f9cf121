/** The report of a round with more differences than it lists one by one. */
import { expect, test } from 'vitest'
import type { Difference } from '../../src/admin/verify/kind.ts'
import { toJson, toText } from '../../src/admin/verify/report.ts'
import type { VerifyResult } from '../../src/admin/verify/verify.ts'

const NOTHING: VerifyResult = {
  businesses: 1,
  contacts: 0,
  visitors: 0,
  notCompared: 0,
  stuck: 0,
  differing: 0,
  found: {},
  differences: [],
  uncompared: [],
  repaired: null,
}
const UNCOMPARED = { businessId: 'b', what: 'views', reason: 'too large' }
const DIFFERENCE: Difference = {
  kind: 'orders',
  businessId: 'b',
  contactId: 'c',
  name: '',
  postgres: '1',
  clickhouse: '2',
  note: '',
}

const many = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item)
const withUncompared = (count: number): VerifyResult => ({ ...NOTHING, uncompared: many(count, UNCOMPARED) })
/** `kept`: of very many differences, only the first ones are kept. */
const withDifferences = (count: number, kept = count): VerifyResult => ({
  ...NOTHING,
  differing: count,
  found: { orders: count },
  differences: many(kept, DIFFERENCE),
})

test.each([
  [20, 20, []],
  [21, 20, ['1 more could not be compared.']],
])('a report with %i that could not be compared lists %i one by one', (count, shown, more) => {
  const lines = toText(withUncompared(count), 1).split('\n')
  expect(lines.filter((line) => line.startsWith('Business b could not'))).toHaveLength(shown)
  expect(lines.slice(1 + shown)).toEqual(more)
})

test.each([
  [withDifferences(20), 20, undefined],
  [withDifferences(21), 20, '  … and 1 more. --json lists up to 1000'],
  [withDifferences(9000, 5000), 20, '  … and 8980 more. --json lists up to 1000'],
])('the first 20 of many differences are listed one by one', (result, shown, more) => {
  const lines = toText(result, 1).split('\n')
  expect(lines.filter((line) => line.startsWith('  orders contact c'))).toHaveLength(shown)
  expect(lines.find((line) => line.startsWith('  …'))).toBe(more)
})

test.each([
  ['as many differences as are shown', withDifferences(1000), [1000, 0, false]],
  ['one more', withDifferences(1001), [1000, 0, true]],
  ['more than were kept', withDifferences(9000, 5000), [1000, 0, true]],
  ['as much uncompared as is shown', withUncompared(1000), [0, 1000, false]],
  ['one more uncompared', withUncompared(1001), [0, 1000, true]],
])('as JSON it says whether its lists are cut: %s', (_what, result, expected) => {
  const { differences, uncompared, truncated } = toJson(result, 1)
  expect([differences.length, uncompared.length, truncated]).toEqual(expected)
})
