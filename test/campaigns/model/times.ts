/** Times of day in UTC, in words of the model's own. */
import { DAY, MINUTE } from '../engine-lab.ts'
import type { Quiet } from './plan.ts'

/** The first such time after an instant. */
export function nextTime(after: number, { minute, weekdays }: { minute: number; weekdays: number[] | null }): number {
  for (let at = after - (after % DAY) + minute * MINUTE; ; at += DAY) {
    const weekday = new Date(at).getUTCDay() || 7
    if (at > after && (weekdays?.includes(weekday) ?? true)) return at
  }
}

/** The first instant from this one on that is not in quiet hours. */
export function openAt(quiet: Quiet | null, now: number): number {
  if (quiet === null) return now
  const sinceFrom = (((now - quiet.from * MINUTE) % DAY) + DAY) % DAY
  const length = ((quiet.to - quiet.from + 1440) % 1440) * MINUTE
  return sinceFrom < length ? now - sinceFrom + length : now
}
