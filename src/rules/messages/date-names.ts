/** The names of months and weekdays in the languages of messages, the same on every runtime. */

export interface DateNames {
  months: readonly string[]
  /** The form that follows a day: "1 декабря". */
  monthsWithDay: readonly string[]
  shortMonths: readonly string[]
  /** From Sunday on. */
  weekdays: readonly string[]
  shortWeekdays: readonly string[]
}

/** Runtimes have other ones than each other. */
const CARRIED: Record<string, string[]> = {
  th: ['อา.', 'จ.', 'อ.', 'พ.', 'พฤ.', 'ศ.', 'ส.'],
  vi: ['CN', 'Th 2', 'Th 3', 'Th 4', 'Th 5', 'Th 6', 'Th 7'],
}

const MAX_KEPT = 100
const kept = new Map<string, DateNames>()

/** In English for a language that has none. */
export function dateNames(language: string): DateNames {
  const known = kept.get(language)
  if (known !== undefined) return known
  const names = makeNames(language)
  if (kept.size >= MAX_KEPT) kept.clear()
  kept.set(language, names)
  return names
}

function makeNames(language: string): DateNames {
  const [base = ''] = language.split('-')
  return {
    months: months(language, { month: 'long' }),
    monthsWithDay: months(language, { month: 'long', day: 'numeric' }),
    // Runtimes agree on the form that follows a day, and not on the other one.
    shortMonths: months(language, { month: 'short', day: 'numeric' }),
    weekdays: weekdays(language, 'long'),
    shortWeekdays: CARRIED[base] ?? weekdays(language, 'short'),
  }
}

const months = (language: string, options: Intl.DateTimeFormatOptions): string[] =>
  Array.from({ length: 12 }, (_, month) => part(language, 'month', options, Date.UTC(2026, month, 5)))

const weekdays = (language: string, weekday: 'long' | 'short'): string[] =>
  // 4 January 2026 is a Sunday.
  Array.from({ length: 7 }, (_, day) => part(language, 'weekday', { weekday }, Date.UTC(2026, 0, 4 + day)))

function part(language: string, type: 'month' | 'weekday', options: Intl.DateTimeFormatOptions, at: number): string {
  const parts = dateFormat(language, options).formatToParts(at)
  return parts.find((one) => one.type === type)?.value ?? ''
}

/** Of UTC, in the Gregorian calendar and with the digits 0 to 9. */
export const dateFormat = (language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat([language, 'en'], {
    ...options,
    timeZone: 'UTC',
    calendar: 'gregory',
    numberingSystem: 'latn',
  })
