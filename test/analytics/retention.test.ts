/** Retention, lifecycle and stages equal a short calculation over the same events. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Calendar, divide, shift, startOf } from '../../src/analytics/buckets.ts'
import { readLifecycle } from '../../src/analytics/lifecycle.ts'
import { readRetention } from '../../src/analytics/retention.ts'
import { readStageMoves, readStages } from '../../src/analytics/stages.ts'
import { STAGES } from '../../src/rules/events/journey-stage.ts'
import { stageHistory } from '../../src/rules/events/stage-history.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { runs } from '../support/runs.ts'
import { openLab, query } from '../timeline/lab.ts'
import { BEGAN, type Happened, NAMES, SPAN_DAYS, ZONES, readerOf, assertHistories } from './history.ts'
import { useOpened } from '../support/use-opened.ts'

const DAY = 86_400_000
const lab = useOpened(openLab)

const condition = fc.constantFrom({ where: [] }, ...NAMES.map((event) => ({ event, where: [] })), {
  event: 'purchase',
  where: [{ property: 'plan', operator: 'equals' as const, value: 'pro' }],
})
type Condition = { event?: string; where: object[] }
const isMatch = ({ event, where }: Condition, one: Happened) =>
  (event === undefined || event === one.event) && (where.length === 0 || one.plan === 'pro')
const calendar = fc.record({
  interval: fc.constantFrom('day' as const, 'week' as const, 'month' as const),
  timezone: fc.constantFrom(...ZONES),
})
/** Returns whole intervals. */
const bucketsOf = (of: Calendar, from: number, count: number) => {
  const start = startOf(BEGAN + from * DAY, of)
  return divide({ from: start, to: shift(start, count, of) }, of, 1000)!
}
const from = fc.integer({ min: -2, max: SPAN_DAYS - 5 })

it('retention equals the people and their times', { timeout: 300_000 }, async () => {
  await assertHistories(
    lab,
    runs(7),
    fc.array(fc.tuple(condition, condition, calendar, from, fc.integer({ min: 1, max: 10 }), fc.nat(8)), {
      minLength: 4,
      maxLength: 4,
    }),
    async ({ businessId, events }, asked) => {
      const people = [...Map.groupBy(events, ({ contact }) => contact).values()]
      for (const [first, returning, of, begins, cohorts, periods] of asked) {
        const buckets = bucketsOf(of, begins, cohorts + periods)
        const now = BEGAN + (begins + 20) * DAY
        const found = await readRetention(readerOf(lab), businessId, {
          first,
          returning,
          buckets,
          cohorts,
          periods,
          now,
        })
        const began = (those: Happened[]) =>
          Math.min(...those.filter((one) => isMatch(first, one)).map(({ occurred_ms: at }) => at))
        const isIn = (at: number, place: number) =>
          at >= buckets.starts[place]! && at < (buckets.starts[place + 1] ?? buckets.to)
        const table = buckets.starts.slice(0, cohorts).map((start, place) => {
          const those = people.filter((one) => isIn(began(one), place))
          const returned = Array.from({ length: periods + 1 }, (_, n) => n).filter(
            (n) => buckets.starts[place + n]! <= now,
          )
          return {
            start,
            contacts: those.length,
            returned: returned.map(
              (n) =>
                those.filter((one) =>
                  one.some(
                    (event) =>
                      isMatch(returning, event) &&
                      event.occurred_ms >= began(one) &&
                      isIn(event.occurred_ms, place + n),
                  ),
                ).length,
            ),
          }
        })
        expect(found.cohorts).toEqual(table)
        for (const { period, contacts, returned, share } of found.curve) {
          const over = table.filter((_, place) => (buckets.starts[place + period + 1] ?? buckets.to) <= now)
          expect(contacts).toBe(over.reduce((sum, one) => sum + one.contacts, 0))
          expect(returned).toBe(over.reduce((sum, one) => sum + one.returned[period]!, 0))
          expect(share).toBe(contacts === 0 ? null : returned / contacts)
        }
      }
    },
  )
})

it('retention by week is that of the view for analysts', { timeout: 120_000 }, async () => {
  const analyst = connectClickHouse(lab.clickhouseUrl, { toPublic: true })
  await assertHistories(lab, runs(5), fc.constant(null), async ({ businessId }) => {
    const weeks = { interval: 'week', timezone: 'UTC' } as const
    const buckets = bucketsOf(weeks, 0, 16)
    const shared = { buckets, cohorts: 8, periods: 8, now: BEGAN + 365 * DAY }
    const { cohorts } = await readRetention(readerOf(lab), businessId, {
      first: { event: 'signup', where: [] },
      returning: { event: 'purchase', where: [] },
      ...shared,
    })
    const rows = await query<{ cohort: string; week: number; people: number; returned: number }>(
      { clickhouse: analyst },
      `select cohort, week, people, returned
        from event_retention(business_id = {business: UUID}, first_event = 'signup', return_event = 'purchase')
        order by cohort, week`,
      { business: businessId },
    )
    const ours = cohorts.flatMap(({ start, contacts, returned }) =>
      returned.flatMap((count, week) =>
        count === 0
          ? []
          : [{ cohort: new Date(start).toISOString().slice(0, 10), week, people: contacts, returned: count }],
      ),
    )
    expect(ours).toEqual(rows)
  })
  await analyst.close()
})

it('lifecycle equals the intervals in which each person was active', { timeout: 300_000 }, async () => {
  await assertHistories(
    lab,
    runs(7),
    fc.array(fc.tuple(condition, calendar, from, fc.integer({ min: 1, max: 12 })), { minLength: 4, maxLength: 4 }),
    async ({ businessId, events }, asked) => {
      for (const [active, of, begins, count] of asked) {
        const start = startOf(BEGAN + begins * DAY, of)
        const buckets = divide({ from: shift(start, -1, of), to: shift(start, count, of) }, of, 1000)!
        const found = await readLifecycle(readerOf(lab), businessId, { active, buckets })
        const people = [
          ...Map.groupBy(
            events.filter((one) => isMatch(active, one)),
            ({ contact }) => contact,
          ),
        ]
        const starts = people.map(([, those]) => new Set(those.map(({ occurred_ms: at }) => startOf(at, of))))
        const many = (holds: (active: Set<number>, at: number, before: number) => boolean, at: number) =>
          starts.filter((one) => holds(one, at, shift(at, -1, of))).length
        expect(found).toEqual(
          buckets.starts.slice(1).map((at) => ({
            start: at,
            new: many((one) => Math.min(...one) === at, at),
            returning: many((one, now, before) => one.has(now) && one.has(before), at),
            resurrecting: many((one, now, before) => one.has(now) && !one.has(before) && Math.min(...one) < now, at),
            dormant: many((one, now, before) => !one.has(now) && one.has(before), at),
          })),
        )
      }
    },
  )
})

it('stages equal those of each contact, and their moves its history', { timeout: 300_000 }, async () => {
  await assertHistories(
    lab,
    runs(8),
    fc.tuple(calendar, from, fc.integer({ min: 1, max: 12 })),
    async ({ businessId, events, people }, [of, begins, count]) => {
      const buckets = bucketsOf(of, begins, count)
      expect(await readStages(readerOf(lab), businessId)).toEqual(
        STAGES.map((stage) => ({ stage, contacts: people.filter((one) => one.stage === stage).length })),
      )
      const moves = people.flatMap(({ id, createdAt }) => {
        const byName = Map.groupBy(
          events.filter(({ contact }) => contact === id),
          ({ event }) => event,
        )
        const happened = [...byName].map(([event, those]) => ({
          event,
          firstAt: Math.min(...those.map(({ occurred_ms: at }) => at)),
        }))
        const entries = stageHistory(createdAt, happened)
        return entries.map(({ stage, at }, place) => ({ from: entries[place - 1]?.stage ?? null, to: stage, at }))
      })
      const inTime = moves.filter(({ at }) => at >= buckets.from && at < buckets.to)
      const found = await readStageMoves(readerOf(lab), businessId, buckets)
      for (const { from: before, to, total, points } of found) {
        const those = inTime.filter((one) => one.from === before && one.to === to)
        expect(total).toBe(those.length)
        expect(points).toEqual(buckets.starts.map((at) => those.filter((one) => startOf(one.at, of) === at).length))
      }
      expect(found.reduce((sum, { total }) => sum + total, 0)).toBe(inTime.length)
    },
  )
})
