import { readDecimal } from './decimals.ts'

/** Returns the exact sum of decimals, as the shortest text. */
export function addDecimals(...texts: string[]): string {
  const decimals = texts.map(readDecimal)
  const scale = Math.max(0, ...decimals.map((decimal) => decimal.scale))
  const digits = decimals.reduce((sum, decimal) => sum + decimal.digits * 10n ** BigInt(scale - decimal.scale), 0n)
  return writeDecimal(digits, scale)
}

export const negateDecimal = (text: string): string =>
  text.startsWith('-') ? text.slice(1) : addDecimals(text) === '0' ? '0' : `-${text}`

function writeDecimal(digits: bigint, scale: number): string {
  const size = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0')
  const whole = size.slice(0, size.length - scale)
  const fraction = size.slice(size.length - scale).replace(/0+$/, '')
  return `${digits < 0n ? '-' : ''}${whole}${fraction && `.${fraction}`}`
}
