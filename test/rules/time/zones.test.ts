/** Offsets and local times of all zones, against the code of the package whose data they come from. */
import * as fc from 'fast-check'
import moment from 'moment-timezone'
import { describe, expect, it } from 'vitest'
import { nextLocalTime, openWindow } from '../../../src/rules/campaigns/local-time.ts'
import { dayAt, readDay, showDay, startOfDay, weekdayOf } from '../../../src/rules/time/days.ts'
import {
  TIME_ZONES_VERSION,
  firstInstantFrom,
  instantOf,
  localAt,
  offsetAt,
  zoneNamed,
} from '../../../src/rules/time/zones.ts'
import { runs } from '../../support/runs.ts'

const HOUR = 3_600_000
const NAMES = moment.tz.names()
const at = (text: string) => Date.parse(text)
const hours = (zone: string, text: string) => offsetAt(zone, at(text)) / HOUR

describe('rules of 2026, which Bun 1.4.5, PostgreSQL 18.4 and ClickHouse 26.7 lack in part', () => {
  it('are at least those of release 2026f', () => {
    expect(TIME_ZONES_VERSION >= '2026f').toBe(true)
  })

  it.each([
    ['America/Vancouver', -7],
    ['America/Edmonton', -6],
    ['America/Inuvik', -6],
    ['America/Winnipeg', -5],
    ['Africa/Casablanca', 0],
    ['Africa/El_Aaiun', 0],
  ])('%s keeps its clock from the autumn of 2026 on', (zone, offset) => {
    for (const time of ['2026-11-29T16:00Z', '2027-07-01T00:00Z', '2038-01-19T03:14:08Z', '2500-12-01T00:00Z'])
      expect([time, hours(zone, time)]).toEqual([time, offset])
  })

  it('09:00 is an hour earlier in Vancouver, and an hour later in Casablanca, than by the old rules', () => {
    const next = (zone: string) =>
      new Date(nextLocalTime(at('2026-11-28T21:37Z'), { time: '09:00' }, zone)).toISOString()
    expect(next('America/Vancouver')).toBe('2026-11-29T16:00:00.000Z')
    expect(next('America/Edmonton')).toBe('2026-11-29T15:00:00.000Z')
    expect(next('Africa/Casablanca')).toBe('2026-11-29T09:00:00.000Z')
  })

  it('at 20:30 in Casablanca a message may be sent at once', () => {
    const due = at('2026-11-28T20:30Z')
    expect(openWindow(due, { from: '21:00', to: '09:00' }, 'Africa/Casablanca')).toEqual({
      from: due,
      until: at('2026-11-28T21:00Z'),
    })
  })
})

describe('names', () => {
  it('are found in any letter case, links keep their own, and others are unknown', () => {
    expect(['europe/paris', 'utc', 'US/PACIFIC', 'Asia/Calcutta', 'etc/gmt+5'].map(zoneNamed)).toEqual([
      'Europe/Paris',
      'UTC',
      'US/Pacific',
      'Asia/Calcutta',
      'Etc/GMT+5',
    ])
    expect(['', 'Europe', 'Mars/Olympus', 'UTC+2', '+02:00', 'constructor'].map(zoneNamed)).toEqual(
      Array.from({ length: 6 }),
    )
    expect(offsetAt('asia/CALCUTTA', 0)).toBe(offsetAt('Asia/Kolkata', 0))
    expect(() => offsetAt('Mars/Olympus', 0)).toThrow('there is no time zone "Mars/Olympus"')
  })

  it('include all that the runtime knows', () => {
    expect(Intl.supportedValuesOf('timeZone').filter((name) => zoneNamed(name) !== name)).toEqual([])
  })
})

const zone = fc.constantFrom(...NAMES)
const instant = fc.integer({ min: at('1840-01-01'), max: at('2499-12-31') })

it('offsets are those of the package, at any instant and around each change', () => {
  const expected = (name: string, time: number) => Math.round(-moment.tz.zone(name)!.utcOffset(time) * 60_000)
  const wrong = NAMES.flatMap((name) =>
    (moment.tz.zone(name)?.untils ?? [])
      .filter((change) => change < at('2040-01-01'))
      .flatMap((change) => [change - 1, change])
      .filter((time) => offsetAt(name, time) - expected(name, time) !== 0)
      .map((time) => `${name} ${time}`),
  )
  expect(wrong).toEqual([])
  fc.assert(
    fc.property(zone, instant, (name, time) => {
      expect(offsetAt(name, time) - expected(name, time)).toBe(0)
    }),
    { numRuns: runs(5000) },
  )
})

it('a local time leads to the first instant that shows it, or later by as much as the clock skips', () => {
  fc.assert(
    fc.property(zone, instant, (name, time) => {
      const local = localAt(name, time)
      const found = instantOf(name, local)
      expect(localAt(name, found)).toBe(local)
      expect(found <= time).toBe(true)
      expect(firstInstantFrom(name, local)).toBe(found)
    }),
    { numRuns: runs(5000) },
  )
})

it.each([
  // Berlin skips 02:00 to 03:00.
  ['Europe/Berlin', '2026-03-29T02:30', '2026-03-29T01:30Z', '2026-03-29T01:00Z'],
  ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30Z', '2026-10-25T00:30Z'],
  // Santiago has no midnight on this day, Nuuk none of the last hour, and Samoa lacks the whole day.
  ['America/Santiago', '2026-09-06T00:00', '2026-09-06T04:00Z', '2026-09-06T04:00Z'],
  ['America/Nuuk', '2026-03-28T23:30', '2026-03-29T01:30Z', '2026-03-29T01:00Z'],
  ['Pacific/Apia', '2011-12-30T12:00', '2011-12-30T22:00Z', '2011-12-30T10:00Z'],
  ['Australia/Lord_Howe', '2026-10-04T02:10', '2026-10-03T15:40Z', '2026-10-03T15:30Z'],
])('in %s %s is %s, and the day goes on at %s', (name, local, later, first) => {
  expect(new Date(instantOf(name, at(`${local}Z`)))).toEqual(new Date(later))
  expect(new Date(firstInstantFrom(name, at(`${local}Z`)))).toEqual(new Date(first))
})

it.each([
  ['2037', 'Europe/Berlin', 2, 1],
  ['2038', 'Europe/Berlin', 2, 1],
  ['2099', 'America/New_York', -4, -5],
  ['2499', 'Australia/Sydney', 10, 11],
  ['2500', 'Europe/Berlin', 2, 1],
  ['2899', 'America/New_York', -4, -5],
  ['9999', 'Europe/London', 1, 0],
])('the rules go on in %s', (year, name, july, december) => {
  expect([hours(name, `${year}-07-10T12:00Z`), hours(name, `${year}-12-10T12:00Z`)]).toEqual([july, december])
  const noon = at(`${year}-07-10T12:00Z`)
  expect(instantOf(name, noon)).toBe(noon - july * HOUR)
})

it('after the table the clocks change on the same weekday as 400 years before', () => {
  const change = instantOf('Europe/Berlin', at('2503-03-25T03:00Z'))
  expect(weekdayOf(dayAt('Europe/Berlin', change))).toBe(7)
  expect([change - 1, change].map((time) => offsetAt('Europe/Berlin', time) / HOUR)).toEqual([1, 2])
})

it('days are those of the calendar', () => {
  expect([weekdayOf(0), weekdayOf(-1), weekdayOf(-4), weekdayOf(3), weekdayOf(4)]).toEqual([4, 3, 7, 7, 1])
  expect(['2024-02-29', '2023-02-29', '2024-2-9', '2024-02-29T00:00', ''].map(readDay)).toEqual([
    19_782,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
  fc.assert(
    fc.property(zone, instant, (name, time) => {
      const day = dayAt(name, time)
      expect(showDay(day)).toBe(moment.tz(time, name).format('YYYY-MM-DD'))
      expect(readDay(showDay(day))).toBe(day)
      expect(weekdayOf(day)).toBe(moment.tz(time, name).isoWeekday())
      const start = startOfDay(name, day)
      expect([dayAt(name, start), dayAt(name, start - 1) < day, start <= time]).toEqual([day, true, true])
    }),
    { numRuns: runs(3000) },
  )
})
