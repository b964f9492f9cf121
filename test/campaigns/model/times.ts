/** Local times of day and times of retries, in the model's own terms. */
import { DAY, MINUTE } from '../engine-lab.ts'
import { type Quiet, ZONES, type Zone } from './plan.ts'
import type { Hand, Updating } from './records.ts'

const offsetOf = (zone: Zone | null): number => (zone === null ? 0 : ZONES[zone] * MINUTE)

/** Returns the first such time after an instant. */
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

/** Returns the first instant, from this one on, outside quiet hours. */
export function openAt(quiet: Quiet | null, now: number, zone: Zone | null): number {
  if (quiet === null) return now
  const sinceFrom = (((now + offsetOf(zone) - quiet.from * MINUTE) % DAY) + DAY) % DAY
  const length = ((quiet.to - quiet.from + 1440) % 1440) * MINUTE
  return sinceFrom < length ? now - sinceFrom + length : now
}

/** Returns the range of instants in which another entry for the update is sent. */
export function againBetween({ attempts }: Updating, now: number): { from: number; to: number } {
  const longest = Math.min(60 * MINUTE, MINUTE * 2 ** (attempts - 1))
  return { from: now + longest / 2, to: now + longest }
}

/** Returns the range of instants for the next attempt. From `giveUpAt` on, there is none. */
export function retryBetween(
  { attempts, message: { claimedAt } }: Hand,
  now: number,
): { from: number; to: number; giveUpAt: number } {
  const longest = Math.min(60 * MINUTE, 20_000 * 2 ** (attempts - 1))
  return { from: now + longest / 2, to: now + longest, giveUpAt: claimedAt + DAY }
}
