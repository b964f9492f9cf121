/** The figures of CDNOW are known. Its repeat curve equals a short calculation over the file. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { divide, shift } from '../../src/analytics/buckets.ts'
import { readFunnel } from '../../src/analytics/funnel.ts'
import { readRetention } from '../../src/analytics/retention.ts'
import { readRevenueCohorts } from '../../src/analytics/revenue-cohorts.ts'
import { readRevenue } from '../../src/analytics/revenue.ts'
import { readSeries } from '../../src/analytics/series.ts'
import { type Lab, eventOf, newBusiness, openLab } from '../timeline/lab.ts'
import { readerOf } from './history.ts'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
/** The file with all purchases. It is not part of the repository. */
const WHOLE = at('../../../shared/data/cdnow.csv')
const SAMPLE = at('../end-to-end/fixtures/cdnow-sample.csv')
const isWhole = existsSync(WHOLE)
const DAY = 86_400_000
const WEEK = 7 * DAY
const PURCHASE = { event: 'purchase', where: [] }

const rows = readFileSync(isWhole ? WHOLE : SAMPLE, 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => {
    const [id = '', day = '', , amount = ''] = line.split(',')
    return { id, time: Date.parse(day), cents: Number(amount.replace('.', '')), amount }
  })
const timesOf = Map.groupBy(rows, ({ id }) => id)
const businessId = newBusiness()
const weeks = { interval: 'week', timezone: 'UTC' } as const
const days = { interval: 'day', timezone: 'UTC' } as const
let lab: Lab
beforeAll(async () => {
  lab = await openLab()
  const values = rows.map(({ id, time, amount }) => ({
    ...eventOf(businessId, {
      contact_id: `00000000-0000-4000-8000-${id.padStart(12, '0')}`,
      event: 'purchase',
      occurred_ms: time,
      type: 'purchase',
      value: Number(amount),
      currency: 'USD',
      counted: amount,
      is_order: 1,
    }),
  }))
  await lab.clickhouse.insert({ table: 'events', values, format: 'JSONEachRow' })
}, 120_000)
afterAll(() => lab?.close())

const period = { from: Date.parse('1997-01-01'), to: Date.parse('1998-07-01') }
const quarter = { from: period.from, to: Date.parse('1997-04-01') }

it('has its customers, purchases and revenue', async () => {
  const [usd, ...others] = await readRevenue(readerOf(lab), businessId, divide(period, weeks, 1000)!)
  const cents = rows.reduce((sum, one) => sum + one.cents, 0)
  const repeat = [...timesOf.values()].filter((those) => those.length > 1).length
  expect(others).toEqual([])
  expect(usd).toMatchObject({
    currency: 'USD',
    gross: cents / 100,
    net: cents / 100,
    refunds: 0,
    orders: rows.length,
    customers: timesOf.size,
    repeatCustomers: repeat,
  })
  if (isWhole) expect(usd).toMatchObject({ customers: 23_570, orders: 69_659, net: 2_500_315.63 })
})

it('has the same numbers in a series, and in the cohorts of the quarter in which all of them began', async () => {
  const revenue = await readSeries(
    readerOf(lab),
    { events: [], measure: 'revenue', currency: 'USD', where: [] },
    { businessId, buckets: divide(period, days, 1000)!, top: 1 },
  )
  const months = { interval: 'month', timezone: 'UTC' } as const
  const buckets = divide({ from: quarter.from, to: shift(quarter.to, 17, months) }, months, 100)!
  const cohorts = await readRevenueCohorts(readerOf(lab), businessId, {
    currency: 'USD',
    buckets,
    cohorts: 3,
    periods: 17,
    now: period.to,
  })
  expect(cohorts.reduce((sum, { customers }) => sum + customers, 0)).toBe(timesOf.size)
  const all = cohorts.flatMap((one) => one.revenue).reduce((sum, one) => sum + one, 0)
  expect(all).toBeCloseTo(revenue.total, 4)
})

it('has its repeat curve by week', async () => {
  const cohorts = 14
  const periods = 77
  const from = Date.parse('1996-12-30')
  const buckets = divide({ from, to: from + (cohorts + periods) * WEEK }, weeks, 1000)!
  const asked = { first: PURCHASE, returning: PURCHASE, buckets, cohorts, periods, now: period.to }
  const found = await readRetention(readerOf(lab), businessId, asked)
  const weekOf = (time: number) => Math.floor((time - from) / WEEK)
  const size = Array.from({ length: cohorts }, () => 0)
  const came = Array.from({ length: cohorts }, () => Array.from({ length: periods + 1 }, () => 0))
  for (const those of timesOf.values()) {
    const began = weekOf(Math.min(...those.map(({ time }) => time)))
    size[began]! += 1
    for (const later of new Set(those.map(({ time }) => weekOf(time) - began)))
      if (later <= periods) came[began]![later]! += 1
  }
  expect(found.cohorts.map(({ contacts }) => contacts)).toEqual(size)
  expect(found.cohorts.map(({ returned }) => returned)).toEqual(
    came.map((one, cohort) => one.filter((_, n) => from + (cohort + n) * WEEK <= period.to)),
  )
  for (const { period: n, contacts, returned } of found.curve) {
    const over = size.map((_, cohort) => cohort).filter((cohort) => from + (cohort + n + 1) * WEEK <= period.to)
    expect(contacts).toBe(over.reduce((sum, cohort) => sum + size[cohort]!, 0))
    expect(returned).toBe(over.reduce((sum, cohort) => sum + came[cohort]![n]!, 0))
  }
})

it('has those who bought again within 30 days', async () => {
  const found = await readFunnel(readerOf(lab), businessId, {
    steps: [PURCHASE, PURCHASE],
    order: 'in_order',
    windowMs: 30 * DAY,
    period,
  })
  let again = 0
  for (const those of timesOf.values()) {
    const times = those.map(({ time }) => time).toSorted((one, other) => one - other)
    if (times.some((time, place) => place > 0 && time - times[place - 1]! <= 30 * DAY)) again += 1
  }
  expect(found.map(({ contacts }) => contacts)).toEqual([timesOf.size, again])
})
