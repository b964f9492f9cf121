/** Formats the name of an interval from its start. */
import { formatOnClock } from '../../format.ts'
import type { Interval } from './search.ts'

const FORMATS: Record<Interval, (at: Date) => string> = {
  hour: formatOnClock.time,
  day: formatOnClock.day,
  week: formatOnClock.day,
  month: formatOnClock.month,
}

export const formatStart = (interval: Interval) => FORMATS[interval]
