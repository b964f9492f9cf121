/** Days of a time zone. */
import { dayAt, showDay, startOfDay } from './time/days.ts'

/** All offsets of time zones in use are multiples of a quarter of an hour, so each quarter belongs to one day. */
export const QUARTER_MS = 15 * 60_000

/** Returns a function for an IANA time zone that returns the day of an instant (epoch ms), such as `2026-11-24`. */
export const createDayOf =
  (timezone: string) =>
  (at: number): string =>
    showDay(dayAt(timezone, at))

/** Returns the last `count` days up to now, oldest first, and the instant (epoch ms) at which the first one starts. */
export function lastDays(now: number, count: number, timezone: string): { days: string[]; since: number } {
  const first = dayAt(timezone, now) - count + 1
  const days = Array.from({ length: count }, (_, index) => showDay(first + index))
  return { days, since: startOfDay(timezone, first) }
}
