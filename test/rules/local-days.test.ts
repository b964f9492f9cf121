import fc from 'fast-check'
import { expect, it } from 'vitest'
import { QUARTER_MS, createDayOf, lastDays } from '../../src/rules/local-days.ts'
import { runs } from '../support/runs.ts'

const ZONES = [
  'UTC',
  'America/New_York',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Kiritimati',
  'Pacific/Niue',
  'Africa/Cairo',
]

it('begins in the first quarter of an hour of the first day, and ends today', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2040, 0) }),
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom(...ZONES),
      (now, count, zone) => {
        const dayOf = createDayOf(zone)
        const { days, since } = lastDays(now, count, zone)
        expect(days).toHaveLength(count)
        expect(days.at(-1)).toBe(dayOf(now))
        expect(days).toEqual(days.toSorted())
        expect(dayOf(since)).toBe(days[0])
        expect(dayOf(since - 1) < (days[0] ?? '')).toBe(true)
        expect(since % QUARTER_MS).toBe(0)
      },
    ),
    { numRuns: runs(1000) },
  )
})
