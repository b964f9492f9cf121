/**
 * Local times of contacts, by the runtime's time zone database. Instants are epoch milliseconds, times `HH:MM`, zones
 * IANA names.
 */
import { Temporal } from 'temporal-polyfill'
import type { QuietHours } from './definition.ts'

/** Returns the first zone that the runtime knows, such as the contact's, else the business's; else UTC. */
export function knownZone(...zones: (string | null)[]): string {
  for (const zone of zones) if (zone !== null && isKnown(zone)) return zone
  return 'UTC'
}

function isKnown(zone: string): boolean {
  try {
    localDateOf(0, zone)
    return true
  } catch {
    return false
  }
}

/**
 * Returns the next instant strictly after another one at which it is `time` on one of the weekdays (1 is Monday;
 * absent: any day). A time that the day lacks comes that much later (02:30 is 03:30). Of a time that comes twice, the
 * first counts.
 */
export function nextLocalTime(
  after: number,
  { time, weekdays }: { time: string; weekdays?: readonly number[] },
  zone: string,
): number {
  // A time that the previous day lacks may come today.
  let date = localDateOf(after, zone).subtract({ days: 1 })
  for (;;) {
    const at = instantOf(date, time, zone)
    if (at > after && (weekdays?.includes(date.dayOfWeek) ?? true)) return at
    date = date.add({ days: 1 })
  }
}

/** `until` is not included, and null when it never ends. */
export interface OpenWindow {
  from: number
  until: number | null
}

/**
 * The days before and after an instant that an open window has to consider: around midnight, a change of the clock can
 * reverse two of them.
 */
const DAYS_AROUND = [-2, -1, 0, 1, 2, 3]

/**
 * Returns when a message may be sent that is due at an instant: from that instant on when no quiet hours apply, else
 * from their end, and until the next ones begin. Quiet hours begin and end by the rule of `nextLocalTime`.
 */
export function openWindow(dueAt: number, quietHours: QuietHours | null, zone: string): OpenWindow {
  if (quietHours === null) return { from: dueAt, until: null }
  const { from, to } = quietHours
  const isOvernight = to < from
  const today = localDateOf(dueAt, zone)
  let open = dueAt
  for (const days of DAYS_AROUND) {
    const date = today.add({ days })
    const end = instantOf(isOvernight ? date.add({ days: 1 }) : date, to, zone)
    if (end <= open) continue
    const begin = instantOf(date, from, zone)
    // Hours that a change of the clock skips delay nothing.
    if (end <= begin) continue
    if (begin > open) return { from: open, until: begin }
    open = end
  }
  throw new Error(`the quiet hours from ${from} to ${to} never end in ${zone}`)
}

const localDateOf = (at: number, zone: string): Temporal.PlainDate =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate()

/** "Compatible": a time that the day lacks comes later; of a time that comes twice, the first counts. */
const instantOf = (date: Temporal.PlainDate, time: string, zone: string): number =>
  date.toZonedDateTime({ timeZone: zone, plainTime: time }).epochMilliseconds
