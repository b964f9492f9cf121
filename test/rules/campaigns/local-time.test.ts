import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { knownZone, nextLocalTime, openWindow } from '../../../src/rules/campaigns/local-time.ts'
import { runs } from '../../support/runs.ts'
import { FIRST, HOURS, naiveNext, naiveWindow, naiveZone } from './naive-local-time.ts'

const HOUR = 3_600_000
const BERLIN = 'Europe/Berlin'
const at = (text: string) => Date.parse(text)
const show = (instant: number | null) => instant && new Date(instant).toISOString()

describe('the next local time', () => {
  const next = (after: string, time: string, zone = BERLIN, weekdays?: number[]) =>
    show(nextLocalTime(at(after), { time, ...(weekdays && { weekdays }) }, zone))

  test('is strictly after the instant', () => {
    expect(next('2026-01-05T07:59:59.999Z', '09:00')).toBe('2026-01-05T08:00:00.000Z')
    expect(next('2026-01-05T08:00:00.000Z', '09:00')).toBe('2026-01-06T08:00:00.000Z')
    expect(next('2026-01-05T08:00:00.001Z', '09:00')).toBe('2026-01-06T08:00:00.000Z')
  })

  test('is on one of the weekdays of the zone', () => {
    expect(next('2026-01-05T10:00:00Z', '09:00', BERLIN, [1])).toBe('2026-01-12T08:00:00.000Z')
    expect(next('2026-01-05T10:00:00Z', '09:00', BERLIN, [1, 5])).toBe('2026-01-09T08:00:00.000Z')
    // Monday in Auckland is still Sunday in UTC.
    expect(next('2026-01-04T12:00:00Z', '09:00', 'Pacific/Auckland', [1])).toBe('2026-01-04T20:00:00.000Z')
  })

  test('comes later by as much as the day lacks, and of two it is the first', () => {
    expect(next('2026-03-28T12:00:00Z', '02:30')).toBe('2026-03-29T01:30:00.000Z')
    expect(next('2026-10-24T12:00:00Z', '02:30')).toBe('2026-10-25T00:30:00.000Z')
    expect(next('2026-10-25T00:30:00Z', '02:30')).toBe('2026-10-26T01:30:00.000Z')
  })

  test('may come the next day, by its own weekday', () => {
    // In Nuuk, Saturday 28 March ends at 23:00.
    expect(next('2026-03-28T23:00:00Z', '23:30', 'America/Nuuk', [6])).toBe('2026-03-29T01:30:00.000Z')
    expect(next('2026-03-29T01:10:00Z', '23:30', 'America/Nuuk', [6])).toBe('2026-03-29T01:30:00.000Z')
  })
})

describe('the open window', () => {
  const NIGHT = { from: '21:00', to: '09:00' }
  const window = (dueAt: string, quietHours: { from: string; to: string } | null = NIGHT, zone = BERLIN) => {
    const { from, until } = openWindow(at(dueAt), quietHours, zone)
    return [show(from), show(until)]
  }

  test('begins at once outside quiet hours, and at their end inside', () => {
    expect(window('2026-01-05T08:00:00Z')).toEqual(['2026-01-05T08:00:00.000Z', '2026-01-05T20:00:00.000Z'])
    expect(window('2026-01-05T19:59:59.999Z')).toEqual(['2026-01-05T19:59:59.999Z', '2026-01-05T20:00:00.000Z'])
    expect(window('2026-01-05T20:00:00Z')).toEqual(['2026-01-06T08:00:00.000Z', '2026-01-06T20:00:00.000Z'])
    expect(window('2026-01-06T07:59:59.999Z')).toEqual(['2026-01-06T08:00:00.000Z', '2026-01-06T20:00:00.000Z'])
  })

  test('is closed within one day when the quiet hours do not cross midnight', () => {
    const noon = { from: '12:00', to: '14:00' }
    expect(window('2026-01-05T12:30:00Z', noon)).toEqual(['2026-01-05T13:00:00.000Z', '2026-01-06T11:00:00.000Z'])
    expect(window('2026-01-05T22:30:00Z', noon)).toEqual(['2026-01-05T22:30:00.000Z', '2026-01-06T11:00:00.000Z'])
  })

  test('never ends without quiet hours', () => {
    expect(window('2026-01-05T23:30:00Z', null)).toEqual(['2026-01-05T23:30:00.000Z', null])
  })

  test('begins later where the day lacks the end of the quiet hours', () => {
    const hours = { from: '21:00', to: '02:30' }
    // 03:15 on a clock that has skipped 02:30.
    expect(window('2026-03-29T01:15:00Z', hours)[0]).toBe('2026-03-29T01:30:00.000Z')
    expect(window('2026-10-25T00:30:00Z', hours)[0]).toBe('2026-10-25T00:30:00.000Z')
  })

  test('is not held by hours that the day lacks', () => {
    // On that day, 02:30 becomes 03:30, which is later than 03:15.
    const hours = { from: '02:30', to: '03:15' }
    expect(window('2026-03-29T01:20:00Z', hours)).toEqual(['2026-03-29T01:20:00.000Z', '2026-03-30T00:30:00.000Z'])
  })

  test('begins the next day where the clock skips the end of an evening', () => {
    // The hours of the day before the previous one: in Nuuk, 23:30 becomes 00:30, and 23:45 becomes 00:45.
    const hours = { from: '23:45', to: '23:30' }
    const open = ['2026-03-29T01:30:00.000Z', '2026-03-29T01:45:00.000Z']
    expect(window('2026-03-29T01:10:00Z', hours, 'America/Nuuk')).toEqual(open)
  })

  test('can be a minute a day', () => {
    const hours = { from: '00:01', to: '00:00' }
    expect(window('2026-01-05T12:00:00Z', hours)).toEqual(['2026-01-05T23:00:00.000Z', '2026-01-05T23:01:00.000Z'])
  })
})

test('an unknown zone falls back to the next one, and to UTC', () => {
  expect(knownZone(BERLIN, 'Asia/Tokyo')).toBe(BERLIN)
  expect(knownZone(null, 'Asia/Tokyo')).toBe('Asia/Tokyo')
  expect(knownZone('Mars/Olympus', null, 'Asia/Tokyo')).toBe('Asia/Tokyo')
  for (const zone of ['', 'Berlin', 'UTC+25', 'Mars/Olympus']) expect(knownZone(zone, zone)).toBe('UTC')
  expect(knownZone()).toBe('UTC')
})

const ZONES = Intl.supportedValuesOf('timeZone')
const timeOf = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
const time = fc.nat(1439).map(timeOf)
const weekdays = fc.option(fc.subarray([1, 2, 3, 4, 5, 6, 7], { minLength: 1 }), { nil: undefined })

interface Case {
  instant: number
  from: string
  to: string
  weekdays: number[] | undefined
}

function expectNaive(name: string, { instant, from, to, weekdays }: Case): void {
  const zone = naiveZone(name)
  const next = nextLocalTime(instant, { time: from, ...(weekdays && { weekdays }) }, name)
  expect(show(next), name).toBe(show(naiveNext(zone, instant, from, weekdays)))
  if (from === to) return
  const window = openWindow(instant, { from, to }, name)
  const expected = naiveWindow(zone, instant, { from, to })
  expect([show(window.from), show(window.until)], name).toEqual([show(expected.from), show(expected.until)])
}

test('every zone, at hours of two years, equals a search by offsets alone', () => {
  expect(ZONES.length).toBeGreaterThan(400)
  const cases = fc.record({
    instant: fc.nat(HOURS - 1).map((hour) => FIRST + hour * HOUR),
    from: time,
    to: time,
    weekdays,
  })
  for (const zone of ZONES)
    fc.assert(
      fc.property(cases, (one) => expectNaive(zone, one)),
      { numRuns: runs(100) },
    )
})

test('where clocks change, quiet hours and times near the change equal it, too', () => {
  const changes = new Map(
    ZONES.flatMap((zone) => {
      const { offsets } = naiveZone(zone)
      const inTwoYears = offsets.slice(1).filter(({ at }) => at > FIRST && at < FIRST + HOURS * HOUR)
      return inTwoYears.map(({ at }) => [`${at} ${JSON.stringify(offsets)}`, { zone, at }] as const)
    }),
  )
  expect(changes.size).toBeGreaterThan(50)
  const near = fc.integer({ min: -200, max: 200 })
  const cases = fc.record({
    change: fc.constantFrom(...changes.values()),
    minutes: fc.integer({ min: -36 * 60, max: 36 * 60 }),
    from: near,
    to: near,
    isNearTo: fc.boolean(),
    any: time,
    weekdays,
  })
  fc.assert(
    fc.property(cases, ({ change: { zone, at }, minutes, from, to, isNearTo, any, weekdays }) => {
      const local = naiveZone(zone).localOf(at) / 60_000
      const nearby = (more: number) => timeOf((((local + more) % 1440) + 1440) % 1440)
      const hours = { from: nearby(from), to: isNearTo ? nearby(to) : any }
      expectNaive(zone, { instant: at + minutes * 60_000, ...hours, weekdays })
    }),
    { numRuns: runs(20_000) },
  )
})
