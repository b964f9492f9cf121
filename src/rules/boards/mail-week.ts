/** When the mails of boards are due, and the weeks that they show. Weeks begin on Monday in the zone of the business; instants are epoch ms. */
import { Temporal } from 'temporal-polyfill'

const HOUR = 8
const MONDAY = 1

/**
 * The week whose mails are due: the date of its Monday, from 08:00 on that day to its end; else null. Where the clock skips
 * 08:00, they are due as much later.
 */
export function dueWeek(now: number, timezone: string): string | null {
  const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone)
  if (local.dayOfWeek !== MONDAY) return null
  const date = local.toPlainDate()
  const due = date.toZonedDateTime({ timeZone: timezone, plainTime: Temporal.PlainTime.from({ hour: HOUR }) })
  return now >= due.epochMilliseconds ? date.toString() : null
}

/** The date some days from another, such as `2026-11-23`. */
export const addDays = (date: string, days: number): string => Temporal.PlainDate.from(date).add({ days }).toString()

/** The day of the business at an instant. */
export const dayAt = (now: number, timezone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDate().toString()
