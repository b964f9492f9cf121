/** Cohorts: contacts by the interval in which they began, and the intervals after it. */
import { type Buckets, type Calendar, INTERVALS, divide, shift, startOf } from '../buckets.ts'
import { toIso } from './chart.ts'
import { type Parameters, readBuckets, readCalendar, readPeriod, readWhole } from './parameters.ts'

export const MAX_COHORTS = 120
export const MAX_PERIODS = 120

/** Reads cohorts: whole intervals from the one that contains `from`, and `periods` more. */
export function readCohorts(parameters: Parameters, otherwise: 'week' | 'month'): CohortParameters | undefined {
  const calendar = readCalendar(parameters, COHORT_INTERVALS, otherwise)
  const periods = readWhole(parameters, 'periods', { most: MAX_PERIODS, otherwise: 12 })
  const period = readPeriod(parameters)
  const whole = period && { from: startOf(period.from, calendar), to: period.to }
  const cohorts = readBuckets(parameters, whole, calendar, MAX_COHORTS)
  if (cohorts === undefined) return undefined
  const end = shift(cohorts.starts.at(-1) ?? cohorts.to, periods + 1, calendar)
  const buckets = divide({ from: cohorts.from, to: end }, calendar, MAX_COHORTS + MAX_PERIODS)
  return buckets === null ? undefined : { calendar, cohorts: cohorts.starts.length, periods, buckets }
}

export interface CohortParameters {
  calendar: Calendar
  buckets: Buckets
  /** Number of buckets that are cohorts. */
  cohorts: number
  periods: number
}

export const COHORT_INTERVALS = INTERVALS.filter((one) => one !== 'hour')

/** Returns the time range of all cohorts, in whole intervals. */
export const rangeOf = ({ buckets, cohorts, calendar }: CohortParameters) => ({
  from: toIso(buckets.from),
  to: toIso(buckets.starts[cohorts] ?? buckets.to),
  ...calendar,
})
