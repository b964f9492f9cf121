/** Lifetime revenue of customers, by the time of their first order. */
import { addAmounts, amountToNumber } from '../rules/events/money.ts'
import type { Buckets } from './buckets.ts'
import { NEVER, bucketSql, eventsSql } from './events-sql.ts'
import { shareOf } from './funnel.ts'
import type { ReadRows } from './read-rows.ts'

export interface RevenueCohortsQuery {
  currency: string
  /** Intervals of cohorts, and `periods` more. */
  buckets: Buckets
  /** Number of buckets that are cohorts: the first ones. */
  cohorts: number
  periods: number
  /** Epoch milliseconds. Intervals that begin later have no figure. */
  now: number
}

export interface RevenueCohort {
  /** Epoch milliseconds. */
  start: number
  customers: number
  /** Customers with two or more orders up to now. */
  repeatCustomers: number
  repeatRate: number | null
  /** Purchases less refunds, in the n-th interval. */
  revenue: number[]
  /** Average per customer up to the end of that interval. */
  lifetimeValue: (number | null)[]
}

/**
 * A cohort consists of the customers whose very first order in that currency was in the interval. Rejects with
 * QueryFault.
 */
export async function readRevenueCohorts(
  read: ReadRows,
  businessId: string,
  { currency, buckets, cohorts, periods, now }: RevenueCohortsQuery,
): Promise<RevenueCohort[]> {
  const end = buckets.starts[cohorts] ?? buckets.to
  const paid = eventsSql({
    columns: { occurred_ms: 'occurred_ms', amount: 'counted', is_order: 'is_order' },
    where: [`ifNull(currency, '') = {currency: String}`, '(counted != 0 or is_order = 1)'],
  })
  const customers = `select contact_id, min(if(is_order = 1, occurred_ms, ${NEVER})) as first_ms,
      ${bucketSql(buckets, 'first_ms')} as cohort, groupArray(tuple(occurred_ms, amount, is_order)) as payments
    from (${paid})
    group by contact_id
    having first_ms >= ${buckets.from} and first_ms < ${end}`
  const sizes = await read<{ cohort: number; customers: number; repeats: number }>(
    `select cohort, count() as customers, countIf(arrayCount(one -> one.3 = 1, payments) > 1) as repeats
    from (${customers}) group by cohort`,
    { business: businessId, currency },
  )
  const sums = await read<{ cohort: number; bucket: number; revenue: string }>(
    `select cohort, ${bucketSql(buckets, 'payment.1')} as bucket, toString(sum(payment.2)) as revenue
    from (select cohort, arrayJoin(payments) as payment from (${customers}))
    where payment.1 >= ${buckets.from} and payment.1 < ${buckets.to}
    group by cohort, bucket`,
    { business: businessId, currency },
  )
  const sizeOf = new Map(sizes.map((one) => [one.cohort, one]))
  const sumOf = new Map(sums.map(({ cohort, bucket, revenue }) => [`${cohort} ${bucket}`, revenue]))
  return buckets.starts.slice(0, cohorts).map((start, place) => {
    const { customers = 0, repeats = 0 } = sizeOf.get(start) ?? {}
    const revenue = buckets.starts
      .slice(place, place + periods + 1)
      .filter((at) => at <= now)
      .map((at) => sumOf.get(`${start} ${at}`) ?? '0')
    return {
      start,
      customers,
      repeatCustomers: repeats,
      repeatRate: shareOf(repeats, customers),
      revenue: revenue.map(amountToNumber),
      lifetimeValue: cumulate(revenue).map((sum) => shareOf(amountToNumber(sum), customers)),
    }
  })
}

function cumulate(amounts: readonly string[]): string[] {
  let sum = '0'
  return amounts.map((one) => (sum = addAmounts(sum, one)))
}
