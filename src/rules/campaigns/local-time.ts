/** Local times of contacts, by the time zone database of the runtime. Instants are epoch ms, times `HH:MM`, zones IANA names. */
import { Temporal } from 'temporal-polyfill'
import type { QuietHours } from './definition.ts'

/** The first one that the runtime knows, such as the contact's, else the business's; else UTC. */
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
 * The next instant strictly after another one at which it is `time`, on one of the weekdays (1 is Monday; absent: on any). A
 * time that the day lacks comes that much later (02:30 is 03:30); of two, it is the first.
 */
export function nextLocalTime(
  after: number,
  { time, weekdays }: { time: string; weekdays?: readonly number[] },
  zone: string,
): number {
  // A time that the day before lacks may come today.
  let date = localDateOf(after, zone).subtract({ days: 1 })
  for (;;) {
    const at = instantOf(date, time, zone)
    if (at > after && (weekdays?.includes(date.dayOfWeek) ?? true)) return at
    date = date.add({ days: 1 })
  }
}

/** `until` is out, and null when it never ends. */
export interface OpenWindow {
  from: number
  until: number | null
}

/** What an open window needs to know of the days before and after an instant: around midnight, a change of the clock can turn two of them round. */
const DAYS_AROUND = [-2, -1, 0, 1, 2, 3]

/**
 * When a message may go out that is due at an instant: from that instant if no quiet hours hold it, else from their end, and
 * until the next ones begin. Quiet hours begin and end by the rule of `nextLocalTime`.
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
    // Hours that a change of the clock leaves out hold nothing.
    if (end <= begin) continue
    if (begin > open) return { from: open, until: begin }
    open = end
  }
  throw new Error(`the quiet hours from ${from} to ${to} never end in ${zone}`)
}

const localDateOf = (at: number, zone: string): Temporal.PlainDate =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate()

/** "Compatible": a time that the day lacks comes later, of two the first counts. */
const instantOf = (date: Temporal.PlainDate, time: string, zone: string): number =>
  date.toZonedDateTime({ timeZone: zone, plainTime: time }).epochMilliseconds
