/** Numbers as spreadsheets and shops write them: which sign separates decimals, and which one thousands. */

/** The sign that separates decimals. */
export const DECIMAL_SIGNS = ['point', 'comma'] as const
export type DecimalSign = (typeof DECIMAL_SIGNS)[number]

/** Currencies whose smallest coin is a thousandth. */
const THOUSANDTHS = new Set(['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND'])
export const hasThreeDecimals = (currency: unknown): boolean =>
  typeof currency === 'string' && THOUSANDTHS.has(currency.trim().toUpperCase())

export type DecimalFault = 'not_a_number' | 'two_ways'

/** With the sign given, the other one separates thousands. */
const GROUPED = {
  point: /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/,
  comma: /^[+-]?\d{1,3}(?:\.\d{3})+(?:,\d+)?$/,
} as const
const PLAIN = {
  point: /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i,
  comma: /^[+-]?\d+(?:,\d+)?$/,
} as const
/** Three digits after up to three others: `1.234` can be one and a bit, or more than a thousand. `0.125` cannot. */
const TWO_WAYS = /^[+-]?[1-9]\d{0,2}[.,]\d{3}$/

interface DecimalRules {
  /** Undefined: either sign separates decimals, and a text that could have thousands is refused. */
  decimal?: DecimalSign | undefined
  /** Whether three decimals are usual here, as in the dinars of Kuwait. */
  threeDecimals?: boolean
}

/** Returns the number as text with a decimal point, or why it cannot be read. */
export function readDecimal(
  text: string,
  { decimal, threeDecimals = false }: DecimalRules,
): { number: string } | { fault: DecimalFault } {
  if (decimal !== undefined) {
    const thousands = decimal === 'comma' ? '.' : ','
    if (GROUPED[decimal].test(text)) return { number: withPoint(text.replaceAll(thousands, '')) }
    return PLAIN[decimal].test(text) ? { number: withPoint(text) } : { fault: 'not_a_number' }
  }
  if (TWO_WAYS.test(text) && !threeDecimals) return { fault: 'two_ways' }
  return PLAIN.point.test(text) || PLAIN.comma.test(text) ? { number: withPoint(text) } : { fault: 'not_a_number' }
}

const withPoint = (text: string): string => text.replace(',', '.')
