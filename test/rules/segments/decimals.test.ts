import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { comparerWithDecimal, daysToMs } from '../../../src/rules/segments/decimals.ts'
import { runs } from '../../support/runs.ts'

describe('comparerWithDecimal', () => {
  const textOf = (digits: bigint, scale: number): string => {
    const size = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0')
    const text = scale === 0 ? size : `${size.slice(0, -scale)}.${size.slice(-scale)}`
    return digits < 0n ? `-${text}` : text
  }
  const near = fc.record({
    around: fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
    more: fc.bigInt({ min: -2n, max: 2n }),
    scale: fc.nat({ max: 12 }),
    zeros: fc.nat({ max: 3 }),
  })

  test('equals the order of integers, also where doubles are equal', () => {
    fc.assert(
      fc.property(near, ({ around, more, scale, zeros }) => {
        const bound = textOf(around * 10n ** BigInt(zeros), scale + zeros)
        const expected = Number(more > 0n) - Number(more < 0n)
        expect(Math.sign(comparerWithDecimal(bound)(textOf(around + more, scale)))).toBe(expected)
      }),
      { numRuns: runs(5000) },
    )
  })

  test('a number is the decimal that its shortest text shows', () => {
    for (const [number, text] of [
      [0.1, '0.10'],
      [1e-7, '0.0000001'],
      [1e21, '1000000000000000000000'],
      [1.5e-10, '0.00000000015'],
      [-0, '0'],
    ] as const)
      expect(comparerWithDecimal(number)(text)).toBe(0)
    expect(comparerWithDecimal(0.1)('0.1000000000000000000001')).toBeGreaterThan(0)
  })

  test('what is not a decimal is an error: stores hold none', () => {
    for (const text of ['', 'x', '1,5', 'NaN']) expect(() => comparerWithDecimal(text)).toThrow(RangeError)
  })
})

describe('daysToMs', () => {
  test.each([
    [1, 86_400_000],
    [0.7, 60_480_000],
    [4.1, 354_240_000],
    [36_500, 3_153_600_000_000],
    [1e-7, 8],
    [1e-8, 0],
    [5e-324, 0],
    [1 / 3, 28_799_999],
  ])('%d days are %d ms', (days, ms) => {
    expect(daysToMs(days)).toBe(ms)
  })

  test('are rounded down, exactly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 36_500_000 }), fc.integer({ min: 0, max: 9 }), (digits, places) => {
        const ms = (BigInt(digits) * 86_400_000n) / 10n ** BigInt(places)
        expect(daysToMs(Number(`${digits}e-${places}`))).toBe(Number(ms))
      }),
      { numRuns: runs(1000) },
    )
  })
})
