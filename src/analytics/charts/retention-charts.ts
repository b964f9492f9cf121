/** Retention and lifecycle: which contacts come back. */
import { divide, shift, startOf } from '../buckets.ts'
import { readLifecycle } from '../lifecycle.ts'
import { readRetention } from '../retention.ts'
import { type ChartStores, toIso } from './chart.ts'
import { COHORT_INTERVALS, MAX_COHORTS, rangeOf, readCohorts } from './cohorts.ts'
import { type Parameters, readBuckets, readCalendar, readCondition, readJsonText, readPeriod } from './parameters.ts'

const readEvent = (parameters: Parameters, name: string) =>
  readCondition(parameters, readJsonText(parameters, name), name)

export function retentionChart(parameters: Parameters) {
  const read = readCohorts(parameters, 'week')
  const first = readEvent(parameters, 'first')
  const returning = readEvent(parameters, 'returning')
  if (read === undefined) return undefined
  const { buckets, cohorts, periods } = read
  const query = { first, returning, buckets, cohorts, periods, now: parameters.now }
  return async ({ openReader }: ChartStores) => {
    const found = await readRetention(openReader(), parameters.business.id, query)
    return {
      ...rangeOf(read),
      cohorts: found.cohorts.map(({ start, ...cohort }) => ({ start: toIso(start), ...cohort })),
      curve: found.curve,
    }
  }
}

export function lifecycleChart(parameters: Parameters) {
  const calendar = readCalendar(parameters, COHORT_INTERVALS, 'week')
  const period = readPeriod(parameters)
  const active = readEvent(parameters, 'active')
  const whole = period && { from: startOf(period.from, calendar), to: period.to }
  const shown = readBuckets(parameters, whole, calendar, MAX_COHORTS)
  if (shown === undefined) return undefined
  // One more interval on each side: whether a contact was active in it decides what it is in the interval beside it.
  const last = shown.starts.at(-1) ?? shown.from
  const around = { from: shift(shown.from, -1, calendar), to: shift(last, 1, calendar) }
  const buckets = divide(around, calendar, MAX_COHORTS + 1)
  if (buckets === null) return undefined
  return async ({ openReader }: ChartStores) => {
    const found = await readLifecycle(openReader(), parameters.business.id, { active, buckets })
    return {
      from: toIso(buckets.starts[1] ?? buckets.from),
      to: toIso(buckets.to),
      timezone: calendar.timezone,
      interval: calendar.interval,
      buckets: found.map(({ start, ...counts }) => ({ start: toIso(start), ...counts })),
    }
  }
}
