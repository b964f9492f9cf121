/** Days of a time zone. */

/** All offsets of time zones in use are multiples of a quarter of an hour, so each quarter belongs to one day. */
export const QUARTER_MS = 15 * 60_000
const HOUR_MS = 3_600_000

/** Returns a function for an IANA time zone that returns the day of an instant (epoch ms), such as `2026-11-24`. */
export function createDayOf(timezone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: timezone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  return (at) => format.format(at)
}

/** Returns the last `count` days up to now, oldest first, and the instant (epoch ms) at which the first one starts. */
export function lastDays(now: number, count: number, timezone: string): { days: string[]; since: number } {
  const dayOf = createDayOf(timezone)
  const today = Date.parse(`${dayOf(now)}T00:00:00Z`)
  const days = Array.from({ length: count }, (_, index) =>
    new Date(today - (count - 1 - index) * 24 * HOUR_MS).toISOString().slice(0, 10),
  )
  const [first = ''] = days
  // A zone is at most 14 hours from UTC. Moving ahead in quarters finds the first quarter of the day.
  let since = Date.parse(`${first}T00:00:00Z`) - 14 * HOUR_MS
  while (dayOf(since) < first) since += QUARTER_MS
  return { days, since }
}
