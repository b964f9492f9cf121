/** The name of an interval, by when it begins. */
import { formatDay, formatTime, locale } from '../../format.ts'
import type { Interval } from './search.ts'

const month = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric' })

const FORMATS: Record<Interval, (at: Date) => string> = {
  hour: formatTime,
  day: formatDay,
  week: formatDay,
  month: (at) => month.format(at),
}

export const formatStart = (interval: Interval) => FORMATS[interval]
