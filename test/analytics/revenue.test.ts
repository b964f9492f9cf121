/** Revenue and its cohorts equal a short calculation over the same events. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { INTERVALS, divide, shift, startOf } from '../../src/analytics/buckets.ts'
import { readRevenueCohorts } from '../../src/analytics/revenue-cohorts.ts'
import { readRevenue } from '../../src/analytics/revenue.ts'
import { runs } from '../support/runs.ts'
import { openLab, query } from '../timeline/lab.ts'
import { BEGAN, type Happened, SPAN_DAYS, ZONES, near, readerOf, assertHistories } from './history.ts'
import { useOpened } from '../support/use-opened.ts'

const DAY = 86_400_000
const lab = useOpened(openLab)

const paid = (events: Happened[]) => events.filter(({ cents, is_order: isOrder }) => cents !== 0 || isOrder === 1)
const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0)
const ordersOf = (events: Happened[]) => events.filter(({ is_order: isOrder }) => isOrder === 1)
const peopleOf = (events: Happened[]) => [...Map.groupBy(events, ({ contact }) => contact).values()]

function figuresOf(events: Happened[], currency: string | null) {
  const gross = sum(events.map(({ cents }) => Math.max(0, cents))) / 100
  const net = sum(events.map(({ cents }) => cents)) / 100
  const orders = ordersOf(events)
  return {
    gross: near(gross, 6),
    refunds: near(sum(events.map(({ cents }) => Math.max(0, -cents))) / 100, 6),
    net: near(net, 6),
    orders: orders.length,
    averageOrder: orders.length === 0 || currency === null ? null : near(gross / orders.length, 6),
    customers: peopleOf(orders).length,
  }
}

it('equals the sums of the events, by currency', { timeout: 300_000 }, async () => {
  await assertHistories(
    lab,
    runs(10),
    fc.tuple(
      fc.constantFrom(...INTERVALS),
      fc.constantFrom(...ZONES),
      fc.integer({ min: -2, max: SPAN_DAYS }),
      fc.integer({ min: 1, max: 30 }),
    ),
    async ({ businessId, events }, [interval, timezone, begins, days]) => {
      const calendar = { interval, timezone }
      const [from, to] = [BEGAN + begins * DAY, BEGAN + (begins + days) * DAY]
      const buckets = divide({ from, to }, calendar, 1000)!
      const inTime = paid(events).filter(({ occurred_ms: at }) => at >= from && at < to)
      const found = await readRevenue(readerOf(lab), businessId, buckets)
      expect(new Set(found.map(({ currency }) => currency))).toEqual(new Set(inTime.map(({ currency }) => currency)))
      for (const { currency, points, ...total } of found) {
        const those = inTime.filter((one) => one.currency === currency)
        const repeat = peopleOf(ordersOf(those)).filter((one) => one.length > 1).length
        const customers = peopleOf(ordersOf(those)).length
        expect(total).toEqual({
          ...figuresOf(those, currency),
          repeatCustomers: repeat,
          repeatRate: customers === 0 ? null : repeat / customers,
        })
        expect(points).toEqual(
          buckets.starts.map((start) =>
            figuresOf(
              those.filter(({ occurred_ms: at }) => Math.max(from, startOf(at, calendar)) === start),
              currency,
            ),
          ),
        )
      }
      const gross = found.map((one) => one.gross)
      expect(gross).toEqual(gross.toSorted((one, other) => other - one))
    },
  )
})

it('by day in UTC is that of the view for analysts', { timeout: 120_000 }, async () => {
  await assertHistories(lab, runs(5), fc.constant(null), async ({ businessId }) => {
    const days = { interval: 'day', timezone: 'UTC' } as const
    const buckets = divide({ from: BEGAN, to: BEGAN + (SPAN_DAYS + 2) * DAY }, days, 1000)!
    const found = await readRevenue(readerOf(lab), businessId, buckets)
    const ours = found.flatMap(({ currency, points }) =>
      points.flatMap(({ net, gross, refunds, orders }, place) =>
        gross === 0 && refunds === 0 && orders === 0
          ? []
          : [
              {
                day: new Date(buckets.starts[place]!).toISOString().slice(0, 10),
                currency: currency ?? '',
                revenue: net,
                purchased: gross,
                refunded: refunds,
                orders,
              },
            ],
      ),
    )
    const theirs = await query<object>(
      lab,
      `select toString(day) as day, currency, revenue, purchased, refunded, orders from revenue_by_day
        where business_id = {business: UUID}`,
      { business: businessId },
    )
    expect(new Set(ours)).toEqual(new Set(theirs))
  })
})

it('cohorts equal the orders of their customers', { timeout: 300_000 }, async () => {
  await assertHistories(
    lab,
    runs(8),
    fc.tuple(
      fc.constantFrom('day' as const, 'week' as const, 'month' as const),
      fc.constantFrom(...ZONES),
      fc.integer({ min: -2, max: SPAN_DAYS - 5 }),
      fc.integer({ min: 1, max: 8 }),
      fc.nat(8),
      fc.constantFrom('USD', 'EUR'),
    ),
    async ({ businessId, events }, [interval, timezone, begins, cohorts, periods, currency]) => {
      const calendar = { interval, timezone }
      const start = startOf(BEGAN + begins * DAY, calendar)
      const buckets = divide({ from: start, to: shift(start, cohorts + periods, calendar) }, calendar, 1000)!
      const now = BEGAN + (begins + 20) * DAY
      const asked = { currency, buckets, cohorts, periods, now }
      const found = await readRevenueCohorts(readerOf(lab), businessId, asked)
      const people = peopleOf(paid(events).filter((one) => one.currency === currency))
      const began = (those: Happened[]) => Math.min(...ordersOf(those).map(({ occurred_ms: at }) => at))
      expect(found).toEqual(
        buckets.starts.slice(0, cohorts).map((at, place) => {
          const those = people.filter((one) => startOf(Number.isFinite(began(one)) ? began(one) : 0, calendar) === at)
          const repeat = those.filter((one) => ordersOf(one).length > 1).length
          const revenue = buckets.starts
            .slice(place, place + periods + 1)
            .filter((one) => one <= now)
            .map((one) =>
              sum(those.flat().map((event) => (startOf(event.occurred_ms, calendar) === one ? event.cents : 0))),
            )
          const soFar = revenue.map((_, n) => sum(revenue.slice(0, n + 1)))
          return {
            start: at,
            customers: those.length,
            repeatCustomers: repeat,
            repeatRate: those.length === 0 ? null : repeat / those.length,
            revenue: revenue.map((cents) => near(cents / 100, 6)),
            lifetimeValue: soFar.map((cents) => (those.length === 0 ? null : near(cents / 100 / those.length, 6))),
          }
        }),
      )
    },
  )
})
