/** When the mails of boards are due: on Mondays from 08:00, by the clock of the business. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { addDays, dayAt, dueWeek } from '../../../src/rules/boards/mail-week.ts'
import { ZONES, localTime } from '../../analytics/history.ts'
import { runs } from '../../support/runs.ts'

const at = (text: string) => Date.parse(text)

it.each([
  ['a millisecond before', '2026-11-23T06:59:59.999Z', null],
  ['at 08:00', '2026-11-23T07:00:00.000Z', '2026-11-23'],
  ['at the end of the day', '2026-11-23T22:59:59.999Z', '2026-11-23'],
  ['on Tuesday', '2026-11-23T23:00:00.000Z', null],
  ['on Sunday', '2026-11-22T12:00:00.000Z', null],
])('in Berlin, %s', (_, time, week) => {
  expect(dueWeek(at(time), 'Europe/Berlin')).toBe(week)
})

it.each([
  // The clocks changed on the previous day.
  ['Europe/Berlin', '2026-03-30T06:00:00.000Z', '2026-03-30'],
  ['Europe/Berlin', '2026-10-26T07:00:00.000Z', '2026-10-26'],
  ['America/New_York', '2026-03-09T12:00:00.000Z', '2026-03-09'],
  ['America/New_York', '2026-11-02T13:00:00.000Z', '2026-11-02'],
  // In other zones it is still Sunday, or Tuesday already.
  ['Pacific/Kiritimati', '2026-11-22T18:00:00.000Z', '2026-11-23'],
  ['Pacific/Pago_Pago', '2026-11-23T19:00:00.000Z', '2026-11-23'],
  ['Australia/Lord_Howe', '2026-11-22T21:00:00.000Z', '2026-11-23'],
])('in %s from %s on', (zone, time, week) => {
  expect([dueWeek(at(time) - 1, zone), dueWeek(at(time), zone)]).toEqual([null, week])
})

const instant = fc.integer({ min: at('1990-01-01'), max: at('2040-01-01') })

it('is due exactly when the local clock shows a Monday, 08:00 or later', () => {
  fc.assert(
    fc.property(instant, fc.constantFrom(...ZONES), (time, zone) => {
      const local = localTime(time, zone)
      const [day, clock] = [local.slice(0, 10), local.slice(11)]
      const isDue = new Date(`${day}T00:00:00Z`).getUTCDay() === 1 && clock >= '08:00:00'
      expect(dueWeek(time, zone)).toBe(isDue ? day : null)
      expect(dayAt(time, zone)).toBe(day)
    }),
    { numRuns: runs(1000) },
  )
})

it('a business has one such time in each week', () => {
  fc.assert(
    fc.property(instant, fc.constantFrom(...ZONES), (time, zone) => {
      const quarters = Array.from({ length: 7 * 96 }, (_, n) => dueWeek(time + n * 900_000, zone))
      const weeks = new Set(quarters.filter((week) => week !== null))
      expect(weeks.size).toBeGreaterThan(0)
      // Both ends of the tested week can be within a Monday.
      expect(weeks.size).toBeLessThan(3)
      for (const week of weeks) expect(new Date(`${week}T00:00:00Z`).getUTCDay()).toBe(1)
    }),
    { numRuns: runs(30) },
  )
})

it('dates move by whole days', () => {
  expect([addDays('2026-03-30', -7), addDays('2026-02-27', 3)]).toEqual(['2026-03-23', '2026-03-02'])
})
