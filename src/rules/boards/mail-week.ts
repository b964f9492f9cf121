/**
 * When the mails of boards are due, and the weeks that they cover. Weeks start on Monday in the time zone of the
 * business; instants are epoch ms.
 */
import * as days from '../time/days.ts'
import { instantOf } from '../time/zones.ts'

const DUE_MS = 8 * 3_600_000
const MONDAY = 1

/**
 * Returns the week whose mails are due, as the date of its Monday: from 08:00 on that day to the end of the day.
 * Otherwise returns null. On a day when the clock skips 08:00, mails are due later by the length of the gap.
 */
export function dueWeek(now: number, timezone: string): string | null {
  const day = days.dayAt(timezone, now)
  if (days.weekdayOf(day) !== MONDAY) return null
  return now >= instantOf(timezone, days.midnightOf(day) + DUE_MS) ? days.showDay(day) : null
}

/** Returns the date that is `count` days after another, such as `2026-11-23`. */
export function addDays(date: string, count: number): string {
  const day = days.readDay(date)
  if (day === undefined) throw new RangeError(`${date} is not a date`)
  return days.showDay(day + count)
}

/** Returns the date at an instant, in the time zone of the business. */
export const dayAt = (now: number, timezone: string): string => days.showDay(days.dayAt(timezone, now))
