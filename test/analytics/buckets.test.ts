/** The intervals of charts, including days on which clocks change. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { INTERVALS, divide, shift, startAfter, startOf, startOfDate } from '../../src/analytics/buckets.ts'
import { runs } from '../support/runs.ts'
import { ZONES, localTime } from './history.ts'

const at = (text: string) => Date.parse(text)
const instant = fc.integer({ min: at('1990-01-01'), max: at('2040-01-01') })
const LENGTHS = { hour: 13, day: 10, week: 10, month: 7 }

it('are those of the local clock', () => {
  fc.assert(
    fc.property(
      instant,
      fc.constantFrom(...ZONES),
      fc.constantFrom('day' as const, 'month' as const),
      (time, timezone, interval) => {
        const calendar = { interval, timezone }
        const part = (one: number) => localTime(one, timezone).slice(0, LENGTHS[interval])
        const [start, next] = [startOf(time, calendar), startAfter(time, calendar)]
        expect([start <= time, time < next]).toEqual([true, true])
        expect([part(start), part(next - 1)]).toEqual([part(time), part(time)])
        expect([part(start - 1) === part(time), part(next) === part(time)]).toEqual([false, false])
        expect(startOf(next, calendar)).toBe(next)
      },
    ),
    { numRuns: runs(300) },
  )
})

it('hours last an hour, and an hour that comes twice is two', () => {
  const hours = { interval: 'hour', timezone: 'America/New_York' } as const
  const night = divide({ from: at('2024-11-03T04:00Z'), to: at('2024-11-03T08:00Z') }, hours, 10)!
  expect(night.starts.map((one) => localTime(one, 'America/New_York').slice(11))).toEqual([
    '00:00:00',
    '01:00:00',
    '01:00:00',
    '02:00:00',
  ])
  // Lord Howe Island changes its clocks by half an hour.
  fc.assert(
    fc.property(instant, fc.constantFrom(...ZONES), (time, timezone) => {
      const calendar = { interval: 'hour', timezone } as const
      const starts = divide({ from: time, to: time + 6 * 3_600_000 }, calendar, 20)!.starts.slice(1)
      for (const [place, start] of starts.entries()) {
        expect(localTime(start, timezone).slice(14)).toMatch(/^(00|30):00$/)
        const length = (starts[place + 1] ?? start + 3_600_000) - start
        expect([1_800_000, 3_600_000, 5_400_000]).toContain(length)
      }
    }),
    { numRuns: runs(300) },
  )
})

it('weeks begin on Monday', () => {
  const weeks = { interval: 'week', timezone: 'Asia/Jerusalem' } as const
  expect(startOf(at('2024-10-27T10:00Z'), weeks)).toBe(at('2024-10-20T21:00Z'))
  expect(startOf(at('2024-10-28T10:00Z'), weeks)).toBe(at('2024-10-27T22:00Z'))
})

it('a period is divided from its beginning on, into a number at most', () => {
  const days = { interval: 'day', timezone: 'UTC' } as const
  const period = { from: at('2024-01-01T12:00Z'), to: at('2024-01-03T00:00Z') }
  expect(divide(period, days, 2)).toEqual({ ...period, starts: [period.from, at('2024-01-02')] })
  expect(divide({ ...period, to: period.to + 1 }, days, 2)).toBeNull()
})

it('a shift leads back, and from a beginning to a beginning', () => {
  fc.assert(
    fc.property(
      instant,
      fc.constantFrom(...ZONES),
      fc.constantFrom(...INTERVALS),
      fc.integer({ min: -50, max: 50 }),
      (time, timezone, interval, count) => {
        const calendar = { interval, timezone }
        const start = startOf(time, calendar)
        const moved = shift(start, count, calendar)
        if (interval !== 'hour') {
          expect(startOf(moved, calendar)).toBe(moved)
          expect(shift(moved, -count, calendar)).toBe(start)
        }
      },
    ),
    { numRuns: runs(300) },
  )
  const months = { interval: 'month', timezone: 'UTC' } as const
  expect(shift(at('2024-03-31T10:00Z'), -1, months)).toBe(at('2024-02-29T10:00Z'))
})

it('a date is the beginning of its day in the zone', () => {
  expect(startOfDate('2024-10-27', 'Asia/Jerusalem')).toBe(at('2024-10-26T21:00Z'))
  expect(startOfDate('2024-02-30', 'UTC')).toBeUndefined()
  // There is no midnight on the day on which these clocks go forward.
  expect(startOfDate('2024-09-08', 'America/Santiago')).toBe(at('2024-09-08T04:00Z'))
})
