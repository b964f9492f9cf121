/** The labels of a chart's axis of times. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { areWithinDays, labelsOf, ticksOf } from '../../src/dashboard/src/parts/ticks.ts'

const HOUR = 3600
const DAY = 24 * HOUR
const BEGIN = Date.parse('2026-11-25T00:00:00Z') / 1000
const every = (step: number, count: number) => Array.from({ length: count }, (_, n) => BEGIN + n * step)

it('are at times of the chart, never too near to each other, and at all of them if there is space', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 0, max: 1000 }), { minLength: 1 }),
      fc.integer({ min: 100, max: 2000 }),
      (some, width) => {
        const times = some.toSorted((one, other) => one - other)
        const scale = { min: (times[0] ?? 0) - 1, max: (times.at(-1) ?? 0) + 1, width }
        const ticks = ticksOf(times, scale)
        const pixels = ticks.map((tick) => ((tick - scale.min) / (scale.max - scale.min)) * width)
        expect(times).toEqual(expect.arrayContaining(ticks))
        expect(ticks[0]).toBe(times[0])
        for (const [at, pixel] of pixels.entries())
          if (at > 0) expect(pixel - (pixels[at - 1] ?? 0)).toBeGreaterThanOrEqual(64 - 1e-6)
      },
    ),
  )
  const days = every(DAY, 7)
  expect(ticksOf(days, { min: BEGIN, max: BEGIN + 6 * DAY, width: 640 })).toEqual(days)
  expect(ticksOf(every(HOUR, 24), { min: BEGIN, max: BEGIN + 23 * HOUR, width: 300 })).toEqual(every(5 * HOUR, 5))
})

it('show the hour within days, also of the day on which the clock goes forward, and the day where it changes', () => {
  expect([areWithinDays(every(HOUR, 24)), areWithinDays(every(DAY - HOUR, 2)), areWithinDays([BEGIN])]).toEqual([
    true,
    false,
    false,
  ])
  const iso = (at: Date) => at.toISOString()
  const formats = { short: (at: Date) => iso(at).slice(11, 16), long: (at: Date) => iso(at).slice(0, 10) }
  expect(labelsOf(every(12 * HOUR, 4), formats)).toEqual(['00:00\n2026-11-25', '12:00', '00:00\n2026-11-26', '12:00'])
})
