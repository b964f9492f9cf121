/** The time range of a page and its intervals, in the time zone of the business. */
import { INTERVALS, type Interval, type RangeSearch } from './search.ts'

export interface Range {
  /** First day, in the time zone of the business. */
  from: string
  /** The day after the last one. Undefined: up to now. */
  to: string | undefined
  /** Number of days. */
  days: number
}

const DAY_MS = 86_400_000
const MARGIN_MS = 2 * 3_600_000
export const DEFAULT_DAYS = 30

export function rangeOf({ days = DEFAULT_DAYS, from, to }: RangeSearch, timezone: string, now = Date.now()): Range {
  const today = dayIn(timezone, now)
  if (from === undefined) return { from: addDays(today, 1 - days), to: undefined, days }
  const [first = today, last = today] = [from, to ?? today].toSorted()
  return {
    from: first,
    to: last < today ? addDays(last, 1) : undefined,
    days: (Date.parse(last) - Date.parse(first)) / DAY_MS + 1,
  }
}

/** Returns the last day, which is included, as people understand a range. */
export const lastDayOf = ({ to }: Range, timezone: string): string =>
  to === undefined ? dayIn(timezone, Date.now()) : addDays(to, -1)

export const dayAfter = (day: string): string => addDays(day, 1)
/** Returns each day of the range. */
export const daysOf = ({ from, days }: Range): string[] => Array.from({ length: days }, (_, n) => addDays(from, n))

const dayIn = (timezone: string, at: number): string => {
  const { year, month, day } = partsOf(timezone, at)
  return `${year}-${month}-${day}`
}

const addDays = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)

function partsOf(timeZone: string, at: number): Record<string, string> {
  const options = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', hourCycle: 'h23' } as const
  const parts = new Intl.DateTimeFormat('en', { ...options, minute: '2-digit', timeZone }).formatToParts(at)
  return Object.fromEntries(parts.map(({ type, value }) => [type, value]))
}

/**
 * A browser's rules of a zone can be older than the server's, which decide when a day begins. Some hours into the day it
 * is the same date by both.
 */
const partsAtStart = (start: string, interval: Interval, timezone: string): Record<string, string> =>
  partsOf(timezone, Date.parse(start) + (interval === 'hour' ? 0 : MARGIN_MS))

/**
 * Converts the start of an interval to the epoch seconds at which the reader's clock shows the same time as the
 * business's clock did at the start. The chart can only use the reader's time zone. Days begin at noon, which exists on
 * every day in every zone.
 */
export function shownTime(start: string, interval: Interval, timezone: string): number {
  const { year, month, day, hour, minute } = partsAtStart(start, interval, timezone)
  const clock = interval === 'hour' ? `${hour}:${minute}` : '00:00'
  return Date.parse(`${year}-${month}-${day}T${clock}:00Z`) / 1000
}

/**
 * Formats the start of an interval for a spreadsheet, in the time zone of the business: `2026-02-01`, or `2026-02-01
 * 14:00` for an hour.
 */
export function localStart(start: string, interval: Interval, timezone: string): string {
  const { year, month, day, hour, minute } = partsAtStart(start, interval, timezone)
  return `${year}-${month}-${day}${interval === 'hour' ? ` ${hour}:${minute}` : ''}`
}

export interface Limits {
  intervals: readonly Interval[]
  /** Largest number of intervals that is chosen by default. */
  wished: number
  most: number
}

export const OVER_TIME: Limits = { intervals: INTERVALS, wished: 92, most: 400 }

export const COHORTS: Limits = { intervals: ['day', 'week', 'month'], wished: 15, most: 100 }

export const LIFECYCLE: Limits = { intervals: ['day', 'week', 'month'], wished: 31, most: 100 }

const LENGTHS: Record<Interval, number> = { hour: 1 / 24, day: 1, week: 7, month: 30 }

/** Returns the intervals that a person may choose. */
export function intervalsOf({ days }: Range, { intervals, most }: Limits): Interval[] {
  const fitting = intervals.filter((one) => days / LENGTHS[one] <= most)
  return fitting.length === 0 ? ['month'] : fitting
}

export function intervalOf(chosen: Interval | undefined, range: Range, limits: Limits): Interval {
  const fitting = intervalsOf(range, limits)
  const wished = fitting.find((one) => range.days / LENGTHS[one] <= limits.wished)
  return fitting.find((one) => one === chosen) ?? wished ?? fitting.at(-1) ?? 'month'
}
