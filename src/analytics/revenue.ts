/** Orders and revenue over time, by currency. */
import type { Buckets } from './buckets.ts'
import { bucketSql, eventsSql, isIn } from './events-sql.ts'
import { shareOf } from './funnel.ts'
import type { ReadRows } from './read-rows.ts'

/** Figures in one currency. */
export interface Figures {
  /** Of purchases. */
  gross: number
  /** A positive number. */
  refunds: number
  /** Purchases less refunds. */
  net: number
  orders: number
  /** Gross revenue divided by orders; null without orders, and for orders without an amount. */
  averageOrder: number | null
  /** Contacts who ordered. */
  customers: number
}

export interface Total extends Figures {
  /** Customers with two or more orders. */
  repeatCustomers: number
  repeatRate: number | null
}

export interface CurrencyRevenue extends Total {
  /** Null for orders without an amount. */
  currency: string | null
  points: Figures[]
}

/** Most gross revenue first. The same as the view `revenue_by_day`, in other intervals. Rejects with QueryFault. */
export async function readRevenue(read: ReadRows, businessId: string, buckets: Buckets): Promise<CurrencyRevenue[]> {
  const found = await read<Found>(
    `select if(grouping(bucket) = 1, null, bucket) as at, paid_in as currency,
      toString(sumIf(amount, amount > 0)) as gross, toString(-sumIf(amount, amount < 0)) as refunds,
      toString(sum(amount)) as net, countIf(is_order = 1) as orders, uniqExactIf(contact_id, is_order = 1) as customers
    from (${PAID(buckets)})
    group by grouping sets ((bucket, paid_in), (paid_in))`,
    { business: businessId },
  )
  const repeats = await read<{ currency: string; contacts: number }>(
    `select paid_in as currency, count() as contacts from (
      select paid_in, contact_id from (${PAID(buckets)}) where is_order = 1 group by paid_in, contact_id having count() > 1
    ) group by paid_in`,
    { business: businessId },
  )
  const again = new Map(repeats.map(({ currency, contacts }) => [currency, contacts]))
  return [...Map.groupBy(found, ({ currency }) => currency)]
    .map(([currency, rows]) => {
      const at = new Map(rows.map((row) => [row.at, figuresOf(row)]))
      const total = at.get(null) ?? NOTHING
      const repeatCustomers = again.get(currency) ?? 0
      return {
        currency: currency === '' ? null : currency,
        ...total,
        repeatCustomers,
        repeatRate: shareOf(repeatCustomers, total.customers),
        points: buckets.starts.map((start) => at.get(start) ?? NOTHING),
      }
    })
    .toSorted((one, other) => other.gross - one.gross || ((one.currency ?? '~') < (other.currency ?? '~') ? -1 : 1))
}

/** The events that count, as in the view `revenue_by_day`. */
const PAID = (buckets: Buckets): string =>
  eventsSql({
    columns: { bucket: bucketSql(buckets), paid_in: `ifNull(currency, '')`, amount: 'counted', is_order: 'is_order' },
    where: [isIn(buckets), '(counted != 0 or is_order = 1)'],
  })

interface Found {
  /** Null for the whole period. */
  at: number | null
  currency: string
  gross: string
  refunds: string
  net: string
  orders: number
  customers: number
}

export const NOTHING: Figures = { gross: 0, refunds: 0, net: 0, orders: 0, averageOrder: null, customers: 0 }

function figuresOf({ currency, orders, customers, ...amounts }: Found): Figures {
  const gross = Number(amounts.gross)
  const averageOrder = currency === '' ? null : shareOf(gross, orders)
  return { gross, refunds: Number(amounts.refunds), net: Number(amounts.net), orders, averageOrder, customers }
}
