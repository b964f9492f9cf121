/** Exact comparison of decimals. Sums may exceed the range of one amount (src/rules/events/money.ts). */

const DECIMAL_TEXT = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i

/** The value is `digits / 10 ** scale`. The scale is at least 0. */
interface Decimal {
  digits: bigint
  scale: number
}

/** Reads the decimal text of a number, or the text that a store wrote: `-12.50`, `1e-7`. */
export function readDecimal(text: string): Decimal {
  const parts = DECIMAL_TEXT.exec(text)
  if (parts === null) throw new RangeError('not a decimal')
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts
  const size = BigInt(whole + fraction)
  const digits = sign === '-' ? -size : size
  const scale = fraction.length - Number(exponent)
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 }
}

/**
 * Returns a function that compares decimals with `bound`: negative when the decimal is less, 0 when it is equal,
 * positive when it is greater. A number stands for the decimal of its shortest text.
 */
export function comparerWithDecimal(bound: string | number): (decimal: string) => number {
  const text = String(bound)
  const near = Number(bound)
  const exact = readDecimal(text)
  return (decimal) => {
    // Rounding to a double keeps the order, so different doubles decide.
    const rounded = Number(decimal)
    if (rounded !== near) return rounded < near ? -1 : 1
    return decimal === text ? 0 : compareExactly(readDecimal(decimal), exact)
  }
}

function compareExactly(a: Decimal, b: Decimal): number {
  const left = a.digits * 10n ** BigInt(Math.max(0, b.scale - a.scale))
  const right = b.digits * 10n ** BigInt(Math.max(0, a.scale - b.scale))
  if (left === right) return 0
  return left < right ? -1 : 1
}

/**
 * Returns the whole units of `10 ** -scale` next to a decimal: the greatest that is not above it, and the least that is
 * not below it.
 */
export function unitsAround(decimal: string | number, scale: number): { floor: bigint; ceil: bigint } {
  const exact = readDecimal(String(decimal))
  if (exact.scale <= scale) {
    const units = exact.digits * 10n ** BigInt(scale - exact.scale)
    return { floor: units, ceil: units }
  }
  const divisor = 10n ** BigInt(exact.scale - scale)
  const [cut, rest] = [exact.digits / divisor, exact.digits % divisor]
  return { floor: rest < 0n ? cut - 1n : cut, ceil: rest > 0n ? cut + 1n : cut }
}

const DAY_MS = 86_400_000n

/**
 * Returns the whole milliseconds of a number of days, rounded down. The days stand for the decimal of their shortest
 * text.
 */
export function daysToMs(days: number): number {
  const { digits, scale } = readDecimal(String(days))
  return Number((digits * DAY_MS) / 10n ** BigInt(scale))
}
