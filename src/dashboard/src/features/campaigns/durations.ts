/** Formats ISO 8601 durations and days of the week for the reader. */
import { locale } from '../../format.ts'

const UNITS = ['week', 'day', 'hour', 'minute', 'second'] as const
const DURATION =
  /^P(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/

const list = new Intl.ListFormat(locale, { type: 'conjunction' })

/** `P1DT12H` is 1 day and 12 hours. Text that is not a duration is returned unchanged. */
export function formatDuration(text: string): string {
  const amounts = DURATION.exec(text)?.slice(1) ?? []
  const parts = UNITS.flatMap((unit, at) => {
    const amount = Number(amounts[at] ?? 0)
    return amount === 0 ? [] : [formatUnit(amount, unit)]
  })
  return parts.length === 0 ? text : list.format(parts)
}

const formatUnit = (amount: number, unit: (typeof UNITS)[number]): string =>
  new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(amount)

const weekday = new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' })
const alternatives = new Intl.ListFormat(locale, { type: 'disjunction' })

/** 1 is Monday. */
export const formatWeekdays = (days: readonly number[]): string =>
  // 1 January 2024 was a Monday.
  alternatives.format(days.map((day) => weekday.format(Date.UTC(2024, 0, day))))
