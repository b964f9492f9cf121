/**
 * The intervals of a chart in a time zone: hours, days, weeks (from Monday) and months, also where clocks change.
 * Instants are epoch milliseconds.
 */
import { Temporal } from 'temporal-polyfill'

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
  return floor(zoned(at, timezone), interval).epochMilliseconds
}

/** Returns the beginning of the next interval. */
export function startAfter(at: number, { interval, timezone }: Calendar): number {
  const next = step(floor(zoned(at, timezone), interval), interval, 1)
  // Where the clock changes by half an hour, the hour after next can begin there.
  const start = floor(next, interval).epochMilliseconds
  return start > at ? start : next.epochMilliseconds
}

/**
 * Returns the instant `count` intervals later; earlier if `count` is negative. The beginning of an interval leads to
 * the beginning of another one.
 */
export function shift(at: number, count: number, calendar: Calendar): number {
  const { interval, timezone } = calendar
  const moved = step(zoned(at, timezone), interval, count)
  return (startOf(at, calendar) === at ? floor(moved, interval) : moved).epochMilliseconds
}

/** Returns the beginning of a day such as `2026-11-24`; undefined when there is no such day. */
export function startOfDate(date: string, timezone: string): number | undefined {
  try {
    return Temporal.PlainDate.from(date).toZonedDateTime(timezone).startOfDay().epochMilliseconds
  } catch {
    return undefined
  }
}

/**
 * Returns the first day that begins at or after an instant, such as `2026-11-24`. `between`: the earliest and the
 * latest day to return.
 */
export function dayFrom(at: number, timezone: string, between: readonly [string, string]): string {
  const [least, most] = between.map((day) => Temporal.PlainDate.from(day)) as [Temporal.PlainDate, Temporal.PlainDate]
  const start = zoned(at, timezone)
  const date = start.toPlainDate()
  const day = start.startOfDay().epochMilliseconds < at ? date.add({ days: 1 }) : date
  if (Temporal.PlainDate.compare(day, least) < 0) return least.toString()
  return (Temporal.PlainDate.compare(day, most) > 0 ? most : day).toString()
}

const zoned = (at: number, timezone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone)

function floor(at: Temporal.ZonedDateTime, interval: Interval): Temporal.ZonedDateTime {
  switch (interval) {
    case 'hour':
      return at.round({ smallestUnit: 'hour', roundingMode: 'floor' })
    case 'day':
      return at.startOfDay()
    case 'week':
      return at.subtract({ days: at.dayOfWeek - 1 }).startOfDay()
    case 'month':
      return at.with({ day: 1 }).startOfDay()
  }
}

const step = (at: Temporal.ZonedDateTime, interval: Interval, count: number): Temporal.ZonedDateTime =>
  at.add({ [`${interval}s`]: count })
