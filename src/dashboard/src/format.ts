/** Numbers, money and times in the reader's language and regional format. */
import { language } from './texts/index.ts'

/** The browser's variant of the page's language, such as `en-GB`; otherwise the language itself. */
export const locale = navigator.languages.find((wanted) => wanted.split('-')[0] === language) ?? language

/** Creates a format on first use. Each takes milliseconds on a slow processor, which would delay the first page. */
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
/** Formats a share: 0.5 is 50 %. */
export const formatPercent = (share: number): string => percent().format(share)
export const formatTime = (at: Date): string => absolute().format(at)
export const formatDay = (at: Date): string => dayOnly().format(at)
export const formatClock = (at: Date): string => clock().format(at)
export const formatUtc = (at: Date): string => `${universal().format(at)} UTC`

function onClock(options: Intl.DateTimeFormatOptions): (at: Date) => string {
  const format = times({ ...options, timeZone: 'UTC' })
  return (at) => format().format(at)
}
/** Formats the times of a chart, which are local times written as UTC. */
export const formatOnClock = {
  time: onClock({ dateStyle: 'medium', timeStyle: 'short' }),
  day: onClock({ dateStyle: 'medium' }),
  month: onClock({ month: 'long', year: 'numeric' }),
  minute: onClock({ timeStyle: 'short' }),
  second: onClock({ timeStyle: 'medium' }),
  /** Day without the year, for places where the year is known. */
  dayOfYear: onClock({ day: 'numeric', month: 'numeric' }),
  year: onClock({ year: 'numeric' }),
}

/** Formats an ISO 8601 time. Returns undefined when there is none. */
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

/** A code that is not a currency comes from a caller and is shown unchanged. */
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

/** Returns a relative time such as `5 min ago`, or the date when it is more than a week away. */
export function formatAgo(at: Date, now: number): string {
  const seconds = Math.round((at.getTime() - now) / 1000)
  if (Math.abs(seconds) > 7 * 86_400) return formatDay(at)
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return relative().format(Math.trunc(seconds / size), unit)
}
