/**
 * When the mails of boards are due, and the weeks that they cover. Weeks start on Monday in the time zone of the
 * business; instants are epoch ms.
 */
import { Temporal } from 'temporal-polyfill'

const HOUR = 8
const MONDAY = 1

/**
 * Returns the week whose mails are due, as the date of its Monday: from 08:00 on that day to the end of the day.
 * Otherwise returns null. On a day when the clock skips 08:00, mails are due later by the length of the gap.
 */
export function dueWeek(now: number, timezone: string): string | null {
  const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone)
  if (local.dayOfWeek !== MONDAY) return null
  const date = local.toPlainDate()
  const due = date.toZonedDateTime({ timeZone: timezone, plainTime: Temporal.PlainTime.from({ hour: HOUR }) })
  return now >= due.epochMilliseconds ? date.toString() : null
}

/** Returns the date that is `days` days after another, such as `2026-11-23`. */
export const addDays = (date: string, days: number): string => Temporal.PlainDate.from(date).add({ days }).toString()

/** Returns the date at an instant, in the time zone of the business. */
export const dayAt = (now: number, timezone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDate().toString()
