import { isPurchase, purchaseValue } from '../generator/traffic.ts'
import type { Stack } from '../stack.ts'
import { openPace } from './open-loop.ts'
import { type Check, type Scenario, noError, rounded } from './scenario.ts'

const RATE = 5000
/** Difference between two equal runs. */
const NOISE = 0.05

export const oneContact: Scenario = {
  name: 'one-contact',
  title: 'one contact gets everything (5,000/s)',
  async run(bench) {
    const options = { ...openPace(RATE), seconds: bench.length(3, 30) }
    const crowd = await bench.openCallers({ kind: 'typical', prefix: 'crowd-' })
    const spread = await bench.send([crowd, options])
    const one = await bench.openCallers({ kind: 'one-contact', prefix: 'one-' })
    const hot = await bench.send([one, options])
    return {
      checks: [
        {
          goal: 'no slower than spread out',
          figure: `${rounded(hot.rate)}/s against ${rounded(spread.rate)}/s`,
          met: hot.rate >= spread.rate * (1 - NOISE),
        },
        await countsExact(bench.stack, one.businessIds, hot.load.sent),
        noError(hot.load),
      ],
      measured: { 'one contact': hot, 'spread out': spread },
    }
  },
}

async function countsExact({ own: { sql } }: Stack, [businessId = '']: string[], sent: number): Promise<Check> {
  const purchases = Array.from({ length: sent }, (_, n) => n).filter(isPurchase)
  const wanted = {
    contacts: 1,
    events: sent,
    orders: purchases.length,
    revenue: purchases.reduce((sum, n) => sum + purchaseValue(n), 0),
  }
  const [found] = await sql<[typeof wanted]>`
    select count(*)::int as contacts, sum(order_count)::float8 as orders,
      (select sum(count)::float8 from event_statistics where business_id = ${businessId}) as events,
      (select sum(amount)::float8 from revenue where business_id = ${businessId}) as revenue
    from contacts where business_id = ${businessId}`
  const format = (of: typeof wanted) =>
    `${of.contacts} contact, ${of.events} events, ${of.orders} orders, ${of.revenue} EUR`
  const exact = format(found) === format(wanted)
  return {
    goal: 'counts exact',
    figure: exact ? format(found) : `${format(found)} in place of ${format(wanted)}`,
    met: exact,
  }
}
