/** Orders, revenue and the value of customers. */
import { INTERVALS } from '../../../analytics/buckets.ts'
import { COHORT_INTERVALS, MAX_COHORTS } from '../../../analytics/charts/cohorts.ts'
import { revenueChart, revenueCohortsChart } from '../../../analytics/charts/revenue-charts.ts'
import { COMPARE_PARAMETER, PERIOD_PARAMETERS, chartEndpoint, intervalParameter } from './chart.ts'
import { PERIODS_PARAMETER } from './retention.ts'
import { RevenueCohortsData, RevenueData } from './schemas.ts'

const FOUND = 'The revenue.'
const COHORTS = 'The cohorts.'
export const revenueEndpoint = chartEndpoint({
  path: '/revenue',
  message: FOUND,
  chart: revenueChart,
  operation: {
    summary: 'Read orders and revenue over time',
    description: 'By currency: amounts of two currencies are never added.',
    query: {
      ...PERIOD_PARAMETERS,
      ...intervalParameter(INTERVALS, 'day'),
      ...COMPARE_PARAMETER,
    },
  },
  reply: {
    description: 'The currencies, most gross first.',
    data: RevenueData,
    example: {
      from: '2026-02-01T00:00:00.000Z',
      to: '2026-02-02T00:00:00.000Z',
      timezone: 'UTC',
      interval: 'day',
      buckets: ['2026-02-01T00:00:00.000Z'],
      currencies: [
        {
          currency: 'USD',
          gross: 120,
          refunds: 20,
          net: 100,
          orders: 3,
          averageOrder: 40,
          customers: 2,
          repeatCustomers: 1,
          repeatRate: 0.5,
          points: [{ gross: 120, refunds: 20, net: 100, orders: 3, averageOrder: 40, customers: 2 }],
          before: null,
        },
      ],
      comparedWith: null,
    },
  },
})

export const cohortsEndpoint = chartEndpoint({
  path: '/revenue/cohorts',
  message: COHORTS,
  chart: revenueCohortsChart,
  operation: {
    summary: 'Read the lifetime value of customers by when they first ordered',
    description:
      'A cohort is everyone whose very first order in the currency was in an interval. Cohorts are whole intervals.',
    query: {
      currency: { schema: { type: 'string' }, description: 'When left out, that of the business.' },
      ...intervalParameter(COHORT_INTERVALS, 'month', MAX_COHORTS),
      ...PERIOD_PARAMETERS,
      ...PERIODS_PARAMETER,
    },
  },
  reply: {
    description: 'The cohorts, oldest first.',
    data: RevenueCohortsData,
    example: {
      from: '2026-02-01T00:00:00.000Z',
      to: '2026-03-01T00:00:00.000Z',
      timezone: 'UTC',
      interval: 'month',
      currency: 'USD',
      cohorts: [
        {
          start: '2026-02-01T00:00:00.000Z',
          customers: 10,
          repeatCustomers: 4,
          repeatRate: 0.4,
          revenue: [400, 100],
          lifetimeValue: [40, 50],
        },
      ],
    },
  },
})
