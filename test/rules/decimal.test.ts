import fc from 'fast-check'
import { expect, it } from 'vitest'
import { add, divide, multiply, readDecimal, remainder, round, toNumber } from '../../src/rules/decimal.ts'

const read = (value: unknown) => {
  const decimal = readDecimal(value)
  if (decimal === undefined) throw new Error(`${String(value)} is not a decimal`)
  return decimal
}

it.each([
  ['19.90', 19.9],
  [' -.5 ', -0.5],
  ['5.', 5],
  ['1e3', 1000],
  [1e21, 1e21],
  [5e-324, 5e-324],
  [-0.1, -0.1],
])('reads %j', (value, number) => {
  expect(toNumber(read(value))).toBe(number)
})

it.each(['', '.', 'e3', '1,5', '0x10', 'many', '1e1000', '1'.repeat(401), Number.NaN, Infinity, null, true, [1], {}])(
  'does not read %j',
  (value) => {
    expect(readDecimal(value)).toBeUndefined()
  },
)

it('reads a text of 400 characters', () => {
  expect(readDecimal('1'.repeat(400))).toBeDefined()
})

it('rounds half away from zero', () => {
  const rounded = (value: unknown, places: number) => toNumber(round(read(value), places))
  expect([rounded(1.005, 2), rounded(-1.005, 2), rounded(2.5, 0), rounded(1250, -2), rounded(1.1, 5)]).toEqual([
    1.01, -1.01, 3, 1300, 1.1,
  ])
})

it('counts in cents what whole cents give', () => {
  const cents = fc.integer({ min: -1e9, max: 1e9 })
  fc.assert(
    fc.property(cents, cents, fc.integer({ min: 1, max: 1000 }), (a, b, many) => {
      const [left, right] = [read(a / 100), read(b / 100)]
      expect(toNumber(add(left, right))).toBe((a + b) / 100)
      expect(toNumber(multiply(left, read(many)))).toBe((a * many) / 100)
      expect(toNumber(divide(multiply(left, read(many)), read(many)))).toBe(a / 100)
      const rest = toNumber(remainder(left, read(many)))
      expect(rest >= 0 && rest < many).toBe(true)
    }),
  )
})
