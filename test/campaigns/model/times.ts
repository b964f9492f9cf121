/** Local times of day and times of retries, in words of the model's own. */
import { DAY, MINUTE } from '../engine-lab.ts'
import { type Quiet, ZONES, type Zone } from './plan.ts'
import type { Hand, Updating } from './records.ts'

const offsetOf = (zone: Zone | null): number => (zone === null ? 0 : ZONES[zone] * MINUTE)

/** The first such time after an instant. */
export function nextTime(
  after: number,
  { minute, weekdays }: { minute: number; weekdays: number[] | null },
  zone: Zone | null,
): number {
  const offset = offsetOf(zone)
  const begin = after + offset
  for (let at = begin - (begin % DAY) + minute * MINUTE; ; at += DAY) {
    const weekday = new Date(at).getUTCDay() || 7
    if (at > begin && (weekdays?.includes(weekday) ?? true)) return at - offset
  }
}

/** The first instant from this one on that is not in quiet hours. */
export function openAt(quiet: Quiet | null, now: number, zone: Zone | null): number {
  if (quiet === null) return now
  const sinceFrom = (((now + offsetOf(zone) - quiet.from * MINUTE) % DAY) + DAY) % DAY
  const length = ((quiet.to - quiet.from + 1440) % 1440) * MINUTE
  return sinceFrom < length ? now - sinceFrom + length : now
}

/** The instants between which another entry for the update follows. */
export function againBetween({ attempts }: Updating, now: number): { from: number; to: number } {
  const longest = Math.min(60 * MINUTE, MINUTE * 2 ** (attempts - 1))
  return { from: now + longest / 2, to: now + longest }
}

/** The instants between which the next attempt lies. There is none from `giveUpAt` on. */
export function retryBetween(
  { attempts, message: { claimedAt } }: Hand,
  now: number,
): { from: number; to: number; giveUpAt: number } {
  const longest = Math.min(60 * MINUTE, 20_000 * 2 ** (attempts - 1))
  return { from: now + longest / 2, to: now + longest, giveUpAt: claimedAt + DAY }
}
