/**
 * The intervals of a chart in a time zone: hours, days, weeks (from Monday) and months, also where clocks change.
 * Instants are epoch milliseconds.
 */
import { dayAt, midnightOf, readDay, showDay, startOfDay, weekdayOf } from '../rules/time/days.ts'
import { instantOf, localAt, offsetAt } from '../rules/time/zones.ts'

export const INTERVALS = ['hour', 'day', 'week', 'month'] as const
export type Interval = (typeof INTERVALS)[number]

/** `from` is included, `to` is not. */
export interface Period {
  from: number
  to: number
}

/** How a chart divides time. */
export interface Calendar {
  interval: Interval
  /** An IANA time zone. */
  timezone: string
}

/** A period, and the instants at which its buckets begin, in order. */
export interface Buckets extends Period {
  starts: number[]
}

/**
 * Divides a period: the first bucket begins with it, the others with their interval. Null when there are more than
 * `most`.
 */
export function divide({ from, to }: Period, calendar: Calendar, most: number): Buckets | null {
  const starts = [from]
  for (let at = startAfter(from, calendar); at < to; at = startAfter(at, calendar)) {
    if (starts.length === most) return null
    starts.push(at)
  }
  return { from, to, starts }
}

/** Returns the beginning of the interval that contains an instant. */
export function startOf(at: number, { interval, timezone }: Calendar): number {
  const day = dayAt(timezone, at)
  switch (interval) {
    case 'hour':
      return startOfHour(at, timezone)
    case 'day':
      return startOfDay(timezone, day)
    case 'week':
      return startOfDay(timezone, day - weekdayOf(day) + 1)
    case 'month':
      return startOfDay(timezone, day - new Date(midnightOf(day)).getUTCDate() + 1)
  }
}

/** Returns the beginning of the next interval. */
export function startAfter(at: number, calendar: Calendar): number {
  const next = step(startOf(at, calendar), 1, calendar)
  // Where the clock changes by half an hour, the hour after next can begin there.
  const start = startOf(next, calendar)
  return start > at ? start : next
}

/**
 * Returns the instant `count` intervals later; earlier if `count` is negative. The beginning of an interval leads to
 * the beginning of another one.
 */
export function shift(at: number, count: number, calendar: Calendar): number {
  const moved = step(at, count, calendar)
  return startOf(at, calendar) === at ? startOf(moved, calendar) : moved
}

/** Returns the beginning of a day such as `2026-11-24`; undefined when there is no such day. */
export function startOfDate(date: string, timezone: string): number | undefined {
  const day = readDay(date)
  return day === undefined ? undefined : startOfDay(timezone, day)
}

/**
 * Returns the first day that begins at or after an instant, such as `2026-11-24`. `between`: the earliest and the
 * latest day to return.
 */
export function dayFrom(at: number, timezone: string, [least, most]: readonly [string, string]): string {
  const day = dayAt(timezone, at)
  const first = startOfDay(timezone, day) < at ? day + 1 : day
  return showDay(Math.min(Math.max(first, readDay(least) ?? first), readDay(most) ?? first))
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const WEEK_MS = 7 * DAY_MS

/** Of an hour that comes twice, the second one stays the second. */
function startOfHour(at: number, timezone: string): number {
  const offset = offsetAt(timezone, at)
  const local = Math.floor((at + offset) / HOUR_MS) * HOUR_MS
  const start = local - offset
  return offsetAt(timezone, start) === offset ? start : instantOf(timezone, local)
}

/** Hours have a length. Days, weeks and months lead to the same time by the clock. */
function step(at: number, count: number, { interval, timezone }: Calendar): number {
  if (interval === 'hour') return at + count * HOUR_MS
  const local = localAt(timezone, at)
  const moved =
    interval === 'month' ? addMonths(local, count) : local + count * (interval === 'week' ? WEEK_MS : DAY_MS)
  return instantOf(timezone, moved)
}

/** A day that the month lacks is its last one. */
function addMonths(local: number, count: number): number {
  const date = new Date(local)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + count]
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return date.setUTCFullYear(year, month, Math.min(date.getUTCDate(), last))
}
