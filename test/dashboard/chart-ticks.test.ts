/** The labels of a chart's time axis. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { areWithinDays, labelsOf, stepsOfValues, ticksOf } from '../../src/dashboard/src/parts/chart/ticks.ts'

const MINUTE = 60
const HOUR = 3600
const DAY = 24 * HOUR
const BEGIN = Date.parse('2026-11-25T00:00:00Z') / 1000
const SPACE = 64
const every = (step: number, count: number, from = BEGIN) => Array.from({ length: count }, (_, n) => from + n * step)
const wholeOf = (times: readonly number[], width: number) => ({ min: times[0]!, max: times.at(-1)!, width })

it.each([
  ['of any kind', 1, 1000],
  ['of minutes', 5 * MINUTE, 600],
  ['of hours', HOUR, 200],
  ['of days', DAY, 900],
])('are at times of the chart, never too near to each other or twice the same: %s', (_, step, most) => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: most }), { minLength: 1 }),
      fc.integer({ min: 100, max: 2000 }),
      (some, width) => {
        const times = some.toSorted((one, other) => one - other).map((one) => BEGIN + one * step)
        const scale = { min: times[0]! - 1, max: times.at(-1)! + 1, width }
        const ticks = ticksOf(times, scale)
        const pixels = ticks.map((tick) => ((tick - scale.min) / (scale.max - scale.min)) * width)
        expect(times).toEqual(expect.arrayContaining(ticks))
        expect(ticks.length).toBeGreaterThan(0)
        for (const [at, pixel] of pixels.entries())
          if (at > 0) expect(pixel - pixels[at - 1]!).toBeGreaterThanOrEqual(SPACE - 1e-6)
      },
    ),
  )
})

it('are at each time if there is space, else at round times of a day, and at midnight', () => {
  const days = every(DAY, 7)
  expect(ticksOf(days, wholeOf(days, 640))).toEqual(days)
  const hours = every(HOUR, 24)
  expect(ticksOf(hours, wholeOf(hours, 1600))).toEqual(hours)
  expect(ticksOf(hours, wholeOf(hours, 1000))).toEqual(every(2 * HOUR, 12))
  expect(ticksOf(hours, wholeOf(hours, 300))).toEqual(every(6 * HOUR, 4))
  const sinceSeven = every(HOUR, 40, BEGIN + 7 * HOUR)
  expect(ticksOf(sinceSeven, wholeOf(sinceSeven, 400))).toEqual(every(12 * HOUR, 3, BEGIN + 12 * HOUR))
  const fortnight = every(HOUR, 14 * 24)
  expect(ticksOf(fortnight, wholeOf(fortnight, 300))).toEqual(every(3 * DAY, 5, BEGIN + DAY))
  // When the clock goes back, one hour occurs twice.
  const twice = [BEGIN, BEGIN + HOUR, BEGIN + HOUR, BEGIN + 2 * HOUR]
  expect(ticksOf(twice, wholeOf(twice, 640))).toEqual(every(HOUR, 3))
  const numbers = every(1, 13, 0)
  expect(ticksOf(numbers, wholeOf(numbers, 300))).toEqual(every(3, 5, 0))
})

it('are at the last day, however little space there is', () => {
  const month = every(DAY, 30)
  for (const width of [100, 300, 400, 900]) expect(ticksOf(month, wholeOf(month, width)).at(-1)).toBe(month.at(-1))
})

it('name only whole numbers on the axis of whole values', () => {
  const some = [{ values: [0, 3, null] }, { values: [7] }]
  expect(stepsOfValues(some)?.every((step) => Number.isInteger(step))).toBe(true)
  expect(stepsOfValues(some)?.slice(0, 4)).toEqual([1, 2, 5, 10])
  expect(stepsOfValues([...some, { values: [0.5] }])).toBeUndefined()
})

it('show the hour within days, and the day where it begins', () => {
  expect([areWithinDays(every(HOUR, 24)), areWithinDays(every(DAY, 9)), areWithinDays([BEGIN])]).toEqual([
    true,
    false,
    false,
  ])
  const iso = (at: Date) => at.toISOString()
  const formats = { short: (at: Date) => iso(at).slice(11, 16), long: (at: Date) => iso(at).slice(0, 10) }
  expect(labelsOf(every(12 * HOUR, 4), formats)).toEqual(['00:00\n2026-11-25', '12:00', '00:00\n2026-11-26', '12:00'])
})
