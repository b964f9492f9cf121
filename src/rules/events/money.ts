/**
 * Amounts of money as decimal strings in steps of 0.000001, so that ten times 0.10 is 1.00 (decisions, "Meaning of an
 * event"). Amounts have no unnecessary zeros: `-12.5`, `100`, `0`.
 */

const DECIMALS = 6
const STEPS_PER_UNIT = 10n ** BigInt(DECIMALS)
const DECIMAL_TEXT = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/

/** The text of a number that is an amount already: such a text has no unnecessary zeros. */
const AMOUNT = /^-?\d+(?:\.\d{1,6})?$/

/** The largest amount that counts, positive or negative. */
export const MAX_AMOUNT = 1e15

/**
 * Returns the amount of a finite number, from its shortest decimal text (as the caller wrote it). More than six
 * decimals are rounded, half away from zero. An amount beyond ±10^15 is too large to count.
 */
export function toAmount(value: number): { amount: string; rounded: boolean } | { tooLarge: true } {
  if (Math.abs(value) > MAX_AMOUNT) return { tooLarge: true }
  const text = String(value)
  if (AMOUNT.test(text)) return { amount: text, rounded: false }
  const { steps, rounded } = readSteps(text)
  return { amount: writeSteps(steps), rounded }
}

/** Returns the exact sum of two amounts. */
export function addAmounts(a: string, b: string): string {
  return writeSteps(readSteps(a).steps + readSteps(b).steps)
}

export function negate(amount: string): string {
  return writeSteps(-readSteps(amount).steps)
}

/** Returns the nearest number, for a JSON response. */
export function amountToNumber(amount: string): number {
  return Number(amount)
}

function readSteps(text: string): { steps: bigint; rounded: boolean } {
  const parts = DECIMAL_TEXT.exec(text)
  if (parts === null) throw new RangeError('not a decimal amount')
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts
  const digits = BigInt(whole + fraction)
  const shift = DECIMALS - fraction.length + Number(exponent)
  const { quotient, exact } =
    shift >= 0 ? { quotient: digits * 10n ** BigInt(shift), exact: true } : divideByTens(digits, -shift)
  return { steps: sign === '-' ? -quotient : quotient, rounded: !exact }
}

function divideByTens(digits: bigint, tens: number): { quotient: bigint; exact: boolean } {
  const divisor = 10n ** BigInt(tens)
  const rest = digits % divisor
  return { quotient: digits / divisor + (rest * 2n >= divisor ? 1n : 0n), exact: rest === 0n }
}

function writeSteps(steps: bigint): string {
  const size = steps < 0n ? -steps : steps
  const fraction = String(size % STEPS_PER_UNIT)
    .padStart(DECIMALS, '0')
    .replace(/0+$/, '')
  return `${steps < 0n ? '-' : ''}${size / STEPS_PER_UNIT}${fraction && `.${fraction}`}`
}
