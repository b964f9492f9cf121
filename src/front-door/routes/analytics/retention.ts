/** Retention and lifecycle: which contacts come back. */
import { type Buckets, divide, shift, startOf } from '../../../analytics/buckets.ts'
import type { EventCondition } from '../../../analytics/events-sql.ts'
import { readLifecycle } from '../../../analytics/lifecycle.ts'
import { readRetention } from '../../../analytics/retention.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'
import { PERIOD_PARAMETERS, chartEndpoint, intervalParameter, toIso } from './chart.ts'
import {
  COHORT_INTERVALS,
  type CohortParameters,
  MAX_COHORTS,
  MAX_PERIODS,
  type Parameters,
  readCalendar,
  readBuckets,
  readCohorts,
  readCondition,
  readJsonText,
  readParameters,
  readPeriod,
} from './read-parameters.ts'
import { LifecycleData, RetentionData } from './schemas.ts'

const RETAINED = 'The retention.'
const LIVED = 'The lifecycle.'

function readRetentionQuery(parameters: Parameters) {
  const cohorts = readCohorts(parameters, 'week')
  const condition = (name: string) => readCondition(parameters, readJsonText(parameters, name), name)
  const [first, returning] = [condition('first'), condition('returning')]
  return cohorts && { cohorts, first, returning }
}

/** Returns the time range of all cohorts, in whole intervals. */
export const rangeOf = ({ buckets, cohorts, calendar }: CohortParameters) => ({
  from: toIso(buckets.from),
  to: toIso(buckets.starts[cohorts] ?? buckets.to),
  ...calendar,
})

export const PERIODS_PARAMETER = {
  periods: {
    schema: { type: 'integer', minimum: 1, maximum: MAX_PERIODS, default: 12 },
    description: 'How many intervals after that of the cohort are looked at.',
  },
}

const conditionParameter = (what: string) => ({
  schema: { type: 'string', default: '{}' },
  description: `${what} JSON: an object with \`event\` (any when left out) and \`where\`, conditions on its properties as in rules of segments.`,
})

const retentionEndpoint = chartEndpoint({
  path: '/retention',
  message: RETAINED,
  async read(_, context, principal, reader) {
    const { cohorts: cohortQuery, first, returning } = readParameters(context, principal, readRetentionQuery)
    const { buckets, cohorts, periods } = cohortQuery
    const query = { first, returning, buckets, cohorts, periods, now: context.receivedAt }
    const found = await readRetention(reader, principal.business.id, query)
    return {
      ...rangeOf(cohortQuery),
      cohorts: found.cohorts.map(({ start, ...cohort }) => ({ start: toIso(start), ...cohort })),
      curve: found.curve,
    }
  },
  operation: {
    summary: 'Read who comes back',
    description:
      'A cohort is everyone who did the first event for the very first time in an interval. They came back in an interval if they ' +
      'did the returning event in it, no earlier than the first one. Cohorts are whole intervals.',
    query: {
      first: conditionParameter('The first event.'),
      returning: conditionParameter('The returning event.'),
      ...intervalParameter(COHORT_INTERVALS, 'week', MAX_COHORTS),
      ...PERIOD_PARAMETERS,
      ...PERIODS_PARAMETER,
    },
  },
  reply: {
    description: 'The cohorts, and all of them together.',
    data: RetentionData,
    example: {
      from: '2026-02-02T00:00:00.000Z',
      to: '2026-02-09T00:00:00.000Z',
      timezone: 'UTC',
      interval: 'week',
      cohorts: [{ start: '2026-02-02T00:00:00.000Z', contacts: 20, returned: [20, 8] }],
      curve: [
        { period: 0, contacts: 20, returned: 20, share: 1 },
        { period: 1, contacts: 20, returned: 8, share: 0.4 },
      ],
    },
  },
})

function readLifecycleQuery(parameters: Parameters): { active: EventCondition; buckets: Buckets } | undefined {
  const calendar = readCalendar(parameters, COHORT_INTERVALS, 'week')
  const period = readPeriod(parameters)
  const active = readCondition(parameters, readJsonText(parameters, 'active'), 'active')
  const whole = period && { from: startOf(period.from, calendar), to: period.to }
  const buckets = readBuckets(parameters, whole, calendar, MAX_COHORTS)
  if (buckets === undefined) return undefined
  const last = buckets.starts.at(-1) ?? buckets.from
  const around = { from: shift(buckets.from, -1, calendar), to: shift(last, 1, calendar) }
  const wider = divide(around, calendar, MAX_COHORTS + 1)
  return wider ? { active, buckets: wider } : undefined
}

const lifecycleEndpoint = chartEndpoint({
  path: '/lifecycle',
  message: LIVED,
  async read(_, context, principal, reader) {
    const { active, buckets, interval } = readParameters(context, principal, (parameters) => {
      const query = readLifecycleQuery(parameters)
      return query && { ...query, interval: readCalendar(parameters, COHORT_INTERVALS, 'week').interval }
    })
    const found = await readLifecycle(reader, principal.business.id, { active, buckets })
    return {
      from: toIso(buckets.starts[1] ?? buckets.from),
      to: toIso(buckets.to),
      timezone: principal.business.timezone,
      interval,
      buckets: found.map(({ start, ...counts }) => ({ start: toIso(start), ...counts })),
    }
  },
  operation: {
    summary: 'Read who is new, returns, resurrects and goes dormant',
    description:
      'Active is who did an event. New: for the first time ever. Returning: in the interval before, too. Resurrecting: earlier, but ' +
      'not in the interval before. Dormant: in the interval before, but not in this one. The intervals are whole.',
    query: {
      active: conditionParameter('The event that makes a contact active.'),
      ...intervalParameter(COHORT_INTERVALS, 'week', MAX_COHORTS),
      ...PERIOD_PARAMETERS,
    },
  },
  reply: {
    description: 'The intervals, oldest first.',
    data: LifecycleData,
    example: {
      from: '2026-02-02T00:00:00.000Z',
      to: '2026-02-09T00:00:00.000Z',
      timezone: 'UTC',
      interval: 'week',
      buckets: [{ start: '2026-02-02T00:00:00.000Z', new: 5, returning: 12, resurrecting: 2, dormant: 4 }],
    },
  },
})

export const retentionEndpoints: readonly BusinessEndpoint[] = [retentionEndpoint, lifecycleEndpoint]
