/** Retention and lifecycle: which contacts come back. */
import { COHORT_INTERVALS, MAX_COHORTS, MAX_PERIODS } from '../../../analytics/charts/cohorts.ts'
import { lifecycleChart, retentionChart } from '../../../analytics/charts/retention-charts.ts'
import { PERIOD_PARAMETERS, chartEndpoint, intervalParameter } from './chart.ts'
import { LifecycleData, RetentionData } from './schemas.ts'

const RETAINED = 'The retention.'
const LIVED = 'The lifecycle.'

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

export const retentionEndpoint = chartEndpoint({
  path: '/retention',
  message: RETAINED,
  chart: retentionChart,
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

export const lifecycleEndpoint = chartEndpoint({
  path: '/lifecycle',
  message: LIVED,
  chart: lifecycleChart,
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
