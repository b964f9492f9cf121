import { readDecimal, round, toNumber } from '../decimal.ts'

/** ISO 4217. `XXX` means that there is none, and runtimes show it differently. */
const CURRENCY = /^(?!XXX$)[A-Z]{3}$/
const DECIMALS_WITHOUT_CURRENCY = 2

/** Shows an amount in a currency, as people write it in a language. Undefined when it is not a number. */
export function formatMoney(value: unknown, currency: string, language: string): string | undefined {
  const amount = readDecimal(value)
  if (amount === undefined) return undefined
  const code = currency.trim().toUpperCase()
  const format = CURRENCY.test(code) ? inCurrency(code, language) : undefined
  const places = format?.resolvedOptions().maximumFractionDigits ?? DECIMALS_WITHOUT_CURRENCY
  // Rounded here: as a binary number, 1.005 is less than it says.
  const rounded = toNumber(round(amount, places))
  return format?.format(rounded) ?? `${plain(places, language).format(rounded)} ${currency}`.trim()
}

const inCurrency = (currency: string, language: string) =>
  new Intl.NumberFormat([language, 'en'], { style: 'currency', currency, numberingSystem: 'latn' })

const plain = (places: number, language: string) =>
  new Intl.NumberFormat([language, 'en'], {
    minimumFractionDigits: places,
    maximumFractionDigits: places,
    numberingSystem: 'latn',
  })
