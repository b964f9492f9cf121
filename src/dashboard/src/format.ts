/** Numbers, money and times for the reader: in their language, and in the form of their region. */
import { language } from './texts/index.ts'

/** Such as `en-GB` for a reader of English who has set that. */
export const locale = navigator.languages.find((wanted) => wanted.split('-')[0] === language) ?? language

/** Each format takes milliseconds to make, of the first page's time on a slow processor: it is made when it is used. */
const onFirstUse = <Format>(make: () => Format): (() => Format) => {
  let made: Format | undefined
  return () => (made ??= make())
}
const numbers = (options: Intl.NumberFormatOptions) => onFirstUse(() => new Intl.NumberFormat(locale, options))
const times = (options: Intl.DateTimeFormatOptions) => onFirstUse(() => new Intl.DateTimeFormat(locale, options))

const number = numbers({ maximumFractionDigits: 2 })
const compact = numbers({ notation: 'compact', maximumFractionDigits: 1 })
const percent = numbers({ style: 'percent', maximumFractionDigits: 1 })
const absolute = times({ dateStyle: 'medium', timeStyle: 'short' })
const dayOnly = times({ dateStyle: 'medium' })
const universal = times({ dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' })
const clock = times({ timeStyle: 'medium' })
const relative = onFirstUse(() => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }))
const monies = new Map<string, Intl.NumberFormat>()

export const formatNumber = (value: number): string => number().format(value)
export const formatCompact = (value: number): string => compact().format(value)
/** 0.5 is 50 %. */
export const formatPercent = (share: number): string => percent().format(share)
export const formatTime = (at: Date): string => absolute().format(at)
export const formatDay = (at: Date): string => dayOnly().format(at)
export const formatClock = (at: Date): string => clock().format(at)
export const formatUtc = (at: Date): string => `${universal().format(at)} UTC`

function onClock(options: Intl.DateTimeFormatOptions): (at: Date) => string {
  const format = times({ ...options, timeZone: 'UTC' })
  return (at) => format().format(at)
}
/** Of the times of a chart, which a clock in UTC shows. */
export const formatOnClock = {
  time: onClock({ dateStyle: 'medium', timeStyle: 'short' }),
  day: onClock({ dateStyle: 'medium' }),
  month: onClock({ month: 'long', year: 'numeric' }),
  minute: onClock({ timeStyle: 'short' }),
  second: onClock({ timeStyle: 'medium' }),
  /** Where the year is known. */
  dayOfYear: onClock({ day: 'numeric', month: 'numeric' }),
  year: onClock({ year: 'numeric' }),
}

/** Of ISO 8601, for what has perhaps no time. */
export const utcOf = (start: string | undefined): string | undefined =>
  start === undefined ? undefined : formatUtc(new Date(start))

export function formatMoney(amount: number, currency: string): string {
  let format = monies.get(currency)
  if (format === undefined) {
    format = moneyFormat(currency)
    monies.set(currency, format)
  }
  return format.format(amount)
}

/** A code that is not a currency comes from a caller: shown as it is. */
function moneyFormat(currency: string): Intl.NumberFormat {
  try {
    return new Intl.NumberFormat(locale, { style: 'currency', currency })
  } catch {
    return { format: (amount: number) => `${number().format(amount)} ${currency}` } as Intl.NumberFormat
  }
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]

/** `5 min ago`; the date when it is more than a week away. */
export function formatAgo(at: Date, now: number): string {
  const seconds = Math.round((at.getTime() - now) / 1000)
  if (Math.abs(seconds) > 7 * 86_400) return formatDay(at)
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return relative().format(Math.trunc(seconds / size), unit)
}
