/** Local times of contacts. Instants are epoch milliseconds, times `HH:MM`, zones IANA names. */
import { dayAt, midnightOf, weekdayOf } from '../time/days.ts'
import { instantOf, zoneNamed } from '../time/zones.ts'
import type { QuietHours } from './definition.ts'

/** Returns the first zone that exists, such as the contact's, else the business's; else UTC. */
export function knownZone(...zones: (string | null)[]): string {
  for (const zone of zones) if (zone !== null && zoneNamed(zone) !== undefined) return zone
  return 'UTC'
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
  for (let day = dayAt(zone, after) - 1; ; day += 1) {
    const at = timeOn(day, time, zone)
    if (at > after && (weekdays?.includes(weekdayOf(day)) ?? true)) return at
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
  const today = dayAt(zone, dueAt)
  let open = dueAt
  for (const days of DAYS_AROUND) {
    const day = today + days
    const end = timeOn(isOvernight ? day + 1 : day, to, zone)
    if (end <= open) continue
    const begin = timeOn(day, from, zone)
    // Hours that a change of the clock skips delay nothing.
    if (end <= begin) continue
    if (begin > open) return { from: open, until: begin }
    open = end
  }
  throw new Error(`the quiet hours from ${from} to ${to} never end in ${zone}`)
}

const timeOn = (day: number, time: string, zone: string): number => instantOf(zone, midnightOf(day) + readTime(time))

const readTime = (time: string): number => (Number(time.slice(0, 2)) * 60 + Number(time.slice(3))) * 60_000
