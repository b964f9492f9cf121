import { expect, it } from 'vitest'
import { readFormula } from '../../src/analytics/formula.ts'

it.each([
  ['a', 6],
  ['a + b', 8],
  ['a-b-1', 3],
  ['100 * b / a', 100 / 3],
  ['(a + b) * 0.5', 4],
  ['a + b * 2', 10],
  ['a / (b - 2)', null],
  ['a / 0 + b', null],
  ['((a))', 6],
])('%s of 6 and 2', (text, expected) => {
  expect(readFormula(text)?.(6, 2)).toBe(expected)
})

it.each([
  '',
  'a b',
  'a +',
  '+ a',
  'c',
  '2 * (a',
  'a)',
  '1e5',
  '-a',
  'a ** b',
  'a; b',
  '.5',
  'constructor',
  `${'('.repeat(21)}a${')'.repeat(21)}`,
])('refuses %s', (text) => {
  expect(readFormula(text)).toBeUndefined()
})

it('takes 20 parentheses in each other', () => {
  expect(readFormula(`${'('.repeat(20)}a${')'.repeat(20)}`)?.(6, 2)).toBe(6)
})
