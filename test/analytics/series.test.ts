/** Series equal a short calculation over the same events, after merges and erasures, too. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { divide, INTERVALS, shift, startOf } from '../../src/analytics/buckets.ts'
import type { Breakdown } from '../../src/analytics/breakdown.ts'
import type { ReadRows } from '../../src/analytics/read-rows.ts'
import { type SeriesQuery, readSeries } from '../../src/analytics/series.ts'
import { MAX_CELLS, MAX_CODES, MAX_GROUPS, MEASURES } from '../../src/analytics/series-sql.ts'
import { runs } from '../support/runs.ts'
import { readDailyEvents } from '../../src/timeline/reading/read-daily-events.ts'
import { createErasureMask } from '../../src/timeline/shipping/mask-erased-contacts.ts'
import { addContact, erase, newBusiness, openLab, query as select, save, shipAll } from '../timeline/lab.ts'
import {
  BEGAN,
  FIELD,
  type Happened,
  type History,
  NAMES,
  SPAN_DAYS,
  ZONES,
  near,
  readerOf,
  assertHistories,
} from './history.ts'
import { useOpened } from '../support/use-opened.ts'

const DAY = 86_400_000
const lab = useOpened(openLab)

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0)
const amountOf: Record<SeriesQuery['measure'], (events: Happened[], query: SeriesQuery) => number> = {
  count: (events) => events.length,
  contacts: (events) => new Set(events.map(({ contact }) => contact)).size,
  revenue: (events, { currency }) =>
    sum(events.filter((one) => one.currency === currency).map(({ cents }) => cents)) / 100,
  sum: (events) => sum(events.map(({ plan }) => (typeof plan === 'number' ? plan : 0))),
}

/** A person can be in several segments, or in none. */
function valuesOf(breakdown: Breakdown, { people }: History, event: Happened): (string | null)[] {
  const person = people.find(({ id }) => id === event.contact)
  switch (breakdown.by) {
    case 'event':
    case 'source':
      return [event[breakdown.by]]
    case 'stage':
    case 'country':
    case 'field':
      return [person?.[breakdown.by] ?? null]
    case 'segment':
      return person?.segments ?? []
    case 'property':
      return [event.plan === null ? null : String(event.plan)]
  }
}

const query = fc.record({
  events: fc.subarray([...NAMES]),
  measure: fc.constantFrom(...MEASURES),
  property: fc.constant('plan'),
  currency: fc.constantFrom('USD', 'EUR'),
  where: fc.constantFrom(
    [],
    [{ property: 'plan', operator: 'equals' as const, value: 'pro' }],
    [{ property: 'value', operator: 'greater_than' as const, value: 10 }],
  ),
})
const breakdown: fc.Arbitrary<Breakdown | undefined> = fc.constantFrom(
  undefined,
  { by: 'event' },
  { by: 'source' },
  { by: 'stage' },
  { by: 'country' },
  { by: 'segment' },
  { by: 'field', name: FIELD },
  { by: 'property', name: 'plan' },
)
const period = fc
  .tuple(fc.integer({ min: -3, max: SPAN_DAYS }), fc.integer({ min: 1, max: 20 }))
  .map(([from, days]) => ({ from: BEGAN + from * DAY, to: BEGAN + (from + days) * DAY }))

function isCounted({ events, where }: SeriesQuery, one: Happened): boolean {
  if (events.length > 0 && !events.includes(one.event)) return false
  return where.every(({ property }) => (property === 'plan' ? one.plan === 'pro' : (one.value ?? 0) > 10))
}

it('equal the sums of their events', { timeout: 300_000 }, async () => {
  await assertHistories(
    lab,
    runs(8),
    fc.tuple(
      fc.array(fc.tuple(query, breakdown, period), { minLength: 4, maxLength: 4 }),
      fc.constantFrom(...INTERVALS),
      fc.constantFrom(...ZONES),
      fc.integer({ min: 1, max: 4 }),
    ),
    async (saved, [asked, interval, timezone, top]) => {
      for (const [series, by, { from, to }] of asked) {
        const calendar = { interval, timezone }
        const buckets = divide({ from, to }, calendar, 1000)!
        const found = await readSeries(readerOf(lab), series, {
          businessId: saved.businessId,
          buckets,
          top,
          ...(by && { breakdown: by }),
        })
        const events = saved.events.filter(
          (one) => one.occurred_ms >= from && one.occurred_ms < to && isCounted(series, one),
        )
        const line = (those: Happened[]) => ({
          total: near(amountOf[series.measure](those, series), 6),
          points: buckets.starts.map((start) =>
            near(
              amountOf[series.measure](
                those.filter(({ occurred_ms: at }) => Math.max(from, startOf(at, calendar)) === start),
                series,
              ),
              6,
            ),
          ),
        })
        expect(found).toMatchObject(line(events))
        if (by === undefined) {
          expect(found.rows).toEqual([])
          continue
        }
        const values = new Map<string | null, Happened[]>()
        for (const one of events)
          for (const value of valuesOf(by, saved, one)) values.set(value, [...(values.get(value) ?? []), one])
        const shown = found.rows.filter(({ isOther }) => !isOther)
        expect(shown.length).toBe(Math.min(top, values.size))
        for (const row of shown) expect(row).toMatchObject(line(values.get(row.value) ?? []))
        const totals = [...values.values()].map((those) => amountOf[series.measure](those, series))
        const best = totals.toSorted((one, other) => other - one).slice(0, top)
        expect(shown.map(({ total }) => total)).toEqual(best.map((one) => near(one, 6)))
        const keys = new Set(shown.map(({ value }) => value))
        const others = events.filter((one) => !valuesOf(by, saved, one).some((value) => keys.has(value)))
        expect(found.rows.length).toBe(shown.length + (others.length > 0 ? 1 : 0))
        if (others.length > 0) expect(found.rows.at(-1)).toMatchObject({ value: null, isOther: true, ...line(others) })
      }
    },
  )
})

it('are those of the days on Home, also while ClickHouse still has what an erased person did', async () => {
  const businessId = newBusiness()
  const [ann, bob] = [await addContact(lab, businessId), await addContact(lab, businessId)]
  const event = { event: 'signup', occurred_ms: BEGAN }
  await save(
    lab,
    businessId,
    [ann, bob].map((contact_id) => ({ ...event, contact_id })),
  )
  await shipAll(lab)
  await erase(lab, businessId, [bob])
  const hideMore = createErasureMask(lab)
  while ((await hideMore()) === 'more');
  const kept = 'select count() as n from events where business_id = {business: UUID}'
  expect(await select(lab, kept, { business: businessId })).toEqual([{ n: 2 }])
  const buckets = divide({ from: BEGAN, to: BEGAN + DAY }, { interval: 'day', timezone: 'UTC' }, 1)!
  const series = await readSeries(
    readerOf(lab),
    { events: [], measure: 'count', where: [] },
    { businessId, buckets, top: 1 },
  )
  const days = await readDailyEvents(lab.clickhouse, { businessId, since: BEGAN })
  expect([series.total, days?.map(({ events }) => events)]).toEqual([1, [1]])
})

it.each(['count', 'contacts'] as const)(
  'are exact also with more values than are counted at once: %s',
  async (measure) => {
    const businessId = newBusiness()
    const params = { business: businessId, begin: BEGAN }
    // The first ten are inserted twice.
    await lab.clickhouse.command({
      query: `insert into events (business_id, contact_id, event_id, event, occurred_ms, properties)
      select {business: UUID}, generateUUIDv4(number), generateUUIDv4(number + 1000000), 'a', {begin: Int64},
        concat('{"n":', toString(number % ${MAX_GROUPS + 1}), '}') from numbers(${MAX_GROUPS + 11})`,
      query_params: params,
    })
    const buckets = divide({ from: BEGAN, to: BEGAN + DAY }, { interval: 'day', timezone: 'UTC' }, 1)!
    const series = await readSeries(
      readerOf(lab),
      { events: [], measure, where: [] },
      { businessId, buckets, top: 10, breakdown: { by: 'property', name: 'n' } },
    )
    expect(series.total).toBe(MAX_GROUPS + 11)
    expect(series.rows.map(({ value, total }) => [value, total])).toEqual([
      ...Array.from({ length: 10 }, (_, n) => [String(n), 2]),
      [null, MAX_GROUPS - 9],
    ])
  },
)

it.each([0, 1])(
  'the contacts of all values are read at once if their cells fit, else those of the greatest values: %i past',
  async (past) => {
    const businessId = newBusiness()
    // Each contact has one of the values. Twenty have the first one.
    await lab.clickhouse.command({
      query: `insert into events (business_id, contact_id, event_id, event, occurred_ms, properties)
      select {business: UUID}, generateUUIDv4(number), generateUUIDv4(number + 1000000), 'a', {begin: Int64},
        concat('{"n":', toString(greatest(number, 20) - 20), '}') from numbers(${MAX_CODES + 20})`,
      query_params: { business: businessId, begin: BEGAN },
    })
    const many = Math.floor(MAX_CELLS / (MAX_CODES + 2)) - 1 + past
    const to = BEGAN + many * 3_600_000
    const buckets = divide({ from: BEGAN, to }, { interval: 'hour', timezone: 'UTC' }, many)!
    expect(buckets.starts).toHaveLength(many)
    const atOnce: number[] = []
    const read: ReadRows = (text, params) => {
      if (params['best'] !== undefined) atOnce.push((params['best'] as string[]).length)
      return readerOf(lab)(text, params)
    }
    const series = await readSeries(
      read,
      { events: [], measure: 'contacts', where: [] },
      { businessId, buckets, top: 2, breakdown: { by: 'property', name: 'n' } },
    )
    expect(Math.max(...atOnce)).toBe(past === 0 ? MAX_CODES : 2)
    expect(series.total).toBe(MAX_CODES + 20)
    expect(series.rows.map(({ value, total }) => [value, total])).toEqual([
      ['0', 21],
      ['1', 1],
      [null, MAX_CODES - 2],
    ])
  },
)

it('the period before is as many intervals earlier', () => {
  const calendar = { interval: 'day', timezone: 'America/New_York' } as const
  // The clock goes back on November 3.
  const from = Date.parse('2024-11-02T04:00:00Z')
  expect(shift(from, 2, calendar)).toBe(Date.parse('2024-11-04T05:00:00Z'))
  expect(shift(Date.parse('2024-11-04T05:00:00Z'), -2, calendar)).toBe(from)
})
