import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addAmounts, amountToNumber, negate, toAmount } from '../../src/rules/events/money.ts'

const amountOf = (value: number): string => {
  const result = toAmount(value)
  return 'amount' in result ? result.amount : 'too large'
}
/** Writes a decimal without the code under test. */
const decimal = (digits: number, places: number): string => {
  const text = String(Math.abs(digits)).padStart(places + 1, '0')
  const written = places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`.replace(/\.?0+$/, '')
  return digits < 0 ? `-${written}` : written
}

describe('toAmount', () => {
  test.each([
    [0, '0'],
    [-0, '0'],
    [1, '1'],
    [100, '100'],
    [-12.5, '-12.5'],
    [0.1, '0.1'],
    [19.99, '19.99'],
    [0.000001, '0.000001'],
    [-0.000001, '-0.000001'],
    [1e-6, '0.000001'],
    [123456.789012, '123456.789012'],
    [1e15, '1000000000000000'],
    [-1e15, '-1000000000000000'],
    [999999999999999.9, '999999999999999.9'],
  ])('%d is %s, exactly', (value, amount) => {
    expect(toAmount(value)).toEqual({ amount, rounded: false })
  })

  test.each([
    [0.0000001, '0'],
    [-0.0000001, '0'],
    [4.9e-7, '0'],
    [5e-7, '0.000001'],
    [-5e-7, '-0.000001'],
    [0.0000015, '0.000002'],
    [0.0000025, '0.000003'],
    [-0.0000025, '-0.000003'],
    // Its binary value is below the half, but the text that the caller wrote is not.
    [1.0000005, '1.000001'],
    [0.1234564, '0.123456'],
    [0.1234565, '0.123457'],
    [0.9999999, '1'],
    [1 / 3, '0.333333'],
    [2 / 3, '0.666667'],
    [0.1 + 0.2, '0.3'],
    [5e-324, '0'],
    [1e-300, '0'],
  ])('%d is rounded to %s', (value, amount) => {
    expect(toAmount(value)).toEqual({ amount, rounded: true })
  })

  test.each([1000000000000000.1, 1000000000000001, -1000000000000000.1, 1e16, 1e21, 1e308, -1e308])(
    '%d is too large',
    (value) => {
      expect(toAmount(value)).toEqual({ tooLarge: true })
    },
  )

  test('keeps every decimal of up to 15 digits, and rounds the finer ones half away from zero', () => {
    const digits = fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 })
    fc.assert(
      fc.property(digits, fc.integer({ min: 0, max: 6 }), (digits, places) => {
        expect(toAmount(Number(`${digits}e-${places}`))).toEqual({ amount: decimal(digits, places), rounded: false })
      }),
    )
    fc.assert(
      fc.property(digits, fc.integer({ min: 1, max: 9 }), (digits, finer) => {
        const step = 10 ** finer
        const rest = Math.abs(digits) % step
        const size = (Math.abs(digits) - rest) / step + (rest * 2 >= step ? 1 : 0)
        const amount = decimal(digits < 0 && size > 0 ? -size : size, 6)
        expect(toAmount(Number(`${digits}e-${6 + finer}`))).toEqual({ amount, rounded: rest !== 0 })
      }),
    )
  })
})

describe('sums', () => {
  const amount = fc
    .bigInt({ min: -(10n ** 21n), max: 10n ** 21n })
    .map((steps) => ({ steps, text: negate(negate(addAmounts('0', stepsText(steps)))) }))

  function stepsText(steps: bigint): string {
    const size = steps < 0n ? -steps : steps
    return `${steps < 0n ? '-' : ''}${size / 1_000_000n}.${String(size % 1_000_000n).padStart(6, '0')}`
  }
  const sum = (texts: string[]): string => texts.reduce(addAmounts, '0')

  test('ten times 0.10 is 1', () => {
    expect(sum(Array.from({ length: 10 }, () => amountOf(0.1)))).toBe('1')
  })

  test('are exact beyond what a double holds', () => {
    expect(addAmounts('1000000000000000', '0.000001')).toBe('1000000000000000.000001')
    expect(sum(Array.from({ length: 1000 }, () => '999999999999999.999999'))).toBe('999999999999999999.999')
  })

  test('read what Postgres writes', () => {
    expect(addAmounts('1.500000', '-0.250000')).toBe('1.25')
    expect(addAmounts('0.000000', '-0')).toBe('0')
  })

  test('equal integer arithmetic, in any order', () => {
    fc.assert(
      fc.property(fc.array(amount), (amounts) => {
        const total = amounts.reduce((total, { steps }) => total + steps, 0n)
        const texts = amounts.map(({ text }) => text)
        expect(addAmounts(sum(texts), stepsText(-total))).toBe('0')
        expect(sum(texts.toReversed())).toBe(sum(texts))
      }),
    )
  })

  test('an amount and its opposite are nothing', () => {
    fc.assert(
      fc.property(amount, ({ text }) => {
        expect(addAmounts(text, negate(text))).toBe('0')
        expect(negate(negate(text))).toBe(text)
      }),
    )
    expect(negate('0')).toBe('0')
  })

  test.each(['', 'abc', '1,5', '1.', '.5', '+1', '0x10', 'NaN', '1 '])('%j is not an amount', (text) => {
    expect(() => addAmounts(text, '0')).toThrow(RangeError)
  })
})

describe('amountToNumber', () => {
  test.each([
    ['0', 0],
    ['-12.5', -12.5],
    ['2500315.63', 2500315.63],
    ['1000000000000000.000001', 1e15],
  ])('%s answers as %d', (amount, value) => {
    expect(amountToNumber(amount)).toBe(value)
  })

  test('an amount that was not rounded answers as it was sent', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e15, max: 1e15, noNaN: true }), (value) => {
        const result = toAmount(value)
        if ('amount' in result && !result.rounded) expect(amountToNumber(result.amount)).toBe(value + 0)
      }),
    )
  })
})
