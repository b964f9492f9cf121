/** Orders, revenue and the value of customers. */
import { trimText } from '../../rules/events/text.ts'
import { MAX_CURRENCY } from '../../rules/segments/grammar/limits.ts'
import { readName } from '../../rules/segments/reading/reading.ts'
import { readRevenueCohorts } from '../revenue-cohorts.ts'
import { NOTHING, type CurrencyRevenue, readRevenue } from '../revenue.ts'
import { type ChartStores, showBuckets, toIso } from './chart.ts'
import { rangeOf, readCohorts } from './cohorts.ts'
import { type Parameters, readComparedBuckets } from './parameters.ts'

const NO_TOTAL = { ...NOTHING, repeatCustomers: 0, repeatRate: null }

export function revenueChart(parameters: Parameters) {
  const compared = readComparedBuckets(parameters)
  if (compared === undefined) return undefined
  const { calendar, buckets, earlier } = compared
  const { id } = parameters.business
  return async ({ openReader }: ChartStores) => {
    const read = openReader()
    const found = await readRevenue(read, id, buckets)
    const before = earlier ? await readRevenue(read, id, earlier) : null
    const gone = (before ?? []).filter((one) => !found.some(({ currency }) => currency === one.currency))
    const all = [
      ...found,
      ...gone.map(({ currency }) => ({ currency, ...NO_TOTAL, points: buckets.starts.map(() => NOTHING) })),
    ]
    return {
      ...showBuckets(buckets),
      ...calendar,
      currencies: all.map((one) => {
        const same = before?.find(({ currency }) => currency === one.currency)
        return { ...one, before: before && (same ? totalOf(same) : NO_TOTAL) }
      }),
      comparedWith: earlier && showBuckets(earlier),
    }
  }
}

function totalOf({ currency: _, points: __, ...total }: CurrencyRevenue) {
  return total
}

/** The value of customers by when they first ordered. */
export function revenueCohortsChart(parameters: Parameters) {
  const read = readCohorts(parameters, 'month')
  const { id, currency: ownCurrency } = parameters.business
  const sent = parameters.query.get('currency')
  const currencyText = sent === null ? ownCurrency : readName(parameters, sent, 'currency', MAX_CURRENCY)
  if (read === undefined) return undefined
  const { buckets, cohorts, periods } = read
  const currency = trimText(currencyText ?? '').toUpperCase()
  const query = { currency, buckets, cohorts, periods, now: parameters.now }
  return async ({ openReader }: ChartStores) => {
    const found = await readRevenueCohorts(openReader(), id, query)
    return {
      ...rangeOf(read),
      currency,
      cohorts: found.map(({ start, ...cohort }) => ({ start: toIso(start), ...cohort })),
    }
  }
}
