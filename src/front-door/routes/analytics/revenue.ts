/** Orders, revenue and the value of customers. */
import { INTERVALS } from '../../../analytics/buckets.ts'
import { NOTHING, type CurrencyRevenue, readRevenue } from '../../../analytics/revenue.ts'
import { readRevenueCohorts } from '../../../analytics/revenue-cohorts.ts'
import { trimText } from '../../../rules/events/text.ts'
import { readName } from '../../../rules/segments/reading/reading.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'
import { PERIOD_PARAMETERS, chartEndpoint, intervalParameter, toIso } from './chart.ts'
import {
  COHORT_INTERVALS,
  MAX_BUCKETS,
  MAX_COHORTS,
  type Parameters,
  readBuckets,
  readCalendar,
  readChoice,
  readCohorts,
  readParameters,
  readPeriod,
} from './read-parameters.ts'
import { PERIODS_PARAMETER, rangeOf } from './retention.ts'
import { RevenueCohortsData, RevenueData } from './schemas.ts'
import { bucketsBefore } from './series.ts'

const FOUND = 'The revenue.'
const COHORTS = 'The cohorts.'
const MAX_CURRENCY = 8

function readRange(parameters: Parameters) {
  const calendar = readCalendar(parameters, INTERVALS, 'day')
  const buckets = readBuckets(parameters, readPeriod(parameters), calendar, MAX_BUCKETS)
  const isCompared = readChoice(parameters, 'compare', ['true', 'false'], 'false') === 'true'
  return buckets && { calendar, buckets, earlier: isCompared ? bucketsBefore(buckets, calendar) : null }
}

const NO_TOTAL = { ...NOTHING, repeatCustomers: 0, repeatRate: null }

function totalOf({ currency: _, points: __, ...total }: CurrencyRevenue) {
  return total
}

const revenueEndpoint = chartEndpoint({
  path: '/revenue',
  message: FOUND,
  async read(_, context, principal, reader) {
    const { calendar, buckets, earlier } = readParameters(context, principal, readRange)
    const found = await readRevenue(reader, principal.business.id, buckets)
    const before = earlier ? await readRevenue(reader, principal.business.id, earlier) : null
    const gone = (before ?? []).filter((one) => !found.some(({ currency }) => currency === one.currency))
    const all = [
      ...found,
      ...gone.map(({ currency }) => ({ currency, ...NO_TOTAL, points: buckets.starts.map(() => NOTHING) })),
    ]
    return {
      from: toIso(buckets.from),
      to: toIso(buckets.to),
      ...calendar,
      buckets: buckets.starts.map(toIso),
      currencies: all.map((one) => {
        const same = before?.find(({ currency }) => currency === one.currency)
        return { ...one, before: before && (same ? totalOf(same) : NO_TOTAL) }
      }),
      comparedWith: earlier && {
        from: toIso(earlier.from),
        to: toIso(earlier.to),
        buckets: earlier.starts.map(toIso),
      },
    }
  },
  operation: {
    summary: 'Read orders and revenue over time',
    description: 'By currency: amounts of two currencies are never added.',
    query: {
      ...PERIOD_PARAMETERS,
      ...intervalParameter(INTERVALS, 'day'),
      compare: { schema: { enum: ['true', 'false'], default: 'false' }, description: 'Also read the period before.' },
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

function readCohortQuery(parameters: Parameters) {
  const cohortQuery = readCohorts(parameters, 'month')
  const sent = parameters.query.get('currency')
  const currency = sent === null ? parameters.currency : readName(parameters, sent, 'currency', MAX_CURRENCY)
  return cohortQuery && { cohortQuery, currency: trimText(currency ?? '').toUpperCase() }
}

const cohortsEndpoint = chartEndpoint({
  path: '/revenue/cohorts',
  message: COHORTS,
  async read(_, context, principal, reader) {
    const { cohortQuery, currency } = readParameters(context, principal, readCohortQuery)
    const { buckets, cohorts, periods } = cohortQuery
    const query = { currency, buckets, cohorts, periods, now: context.receivedAt }
    const found = await readRevenueCohorts(reader, principal.business.id, query)
    return {
      ...rangeOf(cohortQuery),
      currency,
      cohorts: found.map(({ start, ...cohort }) => ({ start: toIso(start), ...cohort })),
    }
  },
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

export const revenueEndpoints: readonly BusinessEndpoint[] = [revenueEndpoint, cohortsEndpoint]
