/** Exact arithmetic with decimal numbers: three times 19.90 is 59.70, and not 59.699999999999996. */

/** `digits` divided by ten to the power of `scale`. */
export interface Decimal {
  digits: bigint
  scale: number
}

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i
/** A number of JavaScript has fewer. */
const MAX_LENGTH = 400
/** Of a quotient that does not end: more than a number of JavaScript can keep. */
const QUOTIENT_DIGITS = 20
const MAX_PLACES = 100

/** Reads a number, or a text that is one. Undefined for everything else. */
export function readDecimal(value: unknown): Decimal | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const text = String(value).trim()
  const parts = text.length > MAX_LENGTH ? null : DECIMAL.exec(text)
  if (parts === null) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts
  if (whole + fraction === '') return undefined
  const digits = BigInt(whole + fraction)
  return withScale({ digits: sign === '-' ? -digits : digits, scale: fraction.length - Number(exponent) })
}

/** The nearest number of JavaScript. */
export const toNumber = ({ digits, scale }: Decimal): number => Number(`${digits}e${-scale}`)

export function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale)
  return { digits: digitsAt(a, scale) + digitsAt(b, scale), scale }
}

export const negate = ({ digits, scale }: Decimal): Decimal => ({ digits: -digits, scale })

export const multiply = (a: Decimal, b: Decimal): Decimal => ({
  digits: a.digits * b.digits,
  scale: a.scale + b.scale,
})

/** `b` is not zero. */
export function divide(a: Decimal, b: Decimal): Decimal {
  const more = Math.max(0, QUOTIENT_DIGITS + lengthOf(b.digits) - lengthOf(a.digits))
  return withScale({ digits: divideRounded(a.digits * tens(more), b.digits), scale: a.scale + more - b.scale })
}

/** With the sign of `b`, which is not zero. */
export function remainder(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale)
  const divisor = digitsAt(b, scale)
  return { digits: ((digitsAt(a, scale) % divisor) + divisor) % divisor, scale }
}

/** Half away from zero. `places`: decimals that stay; below zero, places before the point become 0. */
export function round(decimal: Decimal, places: number): Decimal {
  const wanted = Math.max(-MAX_PLACES, Math.min(MAX_PLACES, Math.trunc(places)))
  const excess = decimal.scale - wanted
  if (excess <= 0) return decimal
  return withScale({ digits: divideRounded(decimal.digits, tens(excess)), scale: wanted })
}

/** With a scale of zero or more. */
const withScale = (decimal: Decimal): Decimal =>
  decimal.scale >= 0 ? decimal : { digits: digitsAt(decimal, 0), scale: 0 }

const digitsAt = ({ digits, scale }: Decimal, wanted: number): bigint => digits * tens(wanted - scale)

const tens = (power: number): bigint => 10n ** BigInt(power)

const sizeOf = (value: bigint): bigint => (value < 0n ? -value : value)
const lengthOf = (digits: bigint): number => String(sizeOf(digits)).length

/** Half away from zero. */
function divideRounded(digits: bigint, divisor: bigint): bigint {
  const [size, by] = [sizeOf(digits), sizeOf(divisor)]
  const quotient = size / by + ((size % by) * 2n >= by ? 1n : 0n)
  return digits < 0n === divisor < 0n ? quotient : -quotient
}
