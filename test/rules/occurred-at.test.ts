import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readOccurredAt } from '../../src/rules/events/occurred-at.ts'
import { containing } from './containing.ts'

const NOW = Date.UTC(2026, 5, 15, 12)
const MINUTE = 60_000
const YEAR_ONE = -62_135_596_800_000

describe('a string', () => {
  test.each([
    ['2026-06-15', Date.UTC(2026, 5, 15)],
    ['2026-06-15T10:20:30Z', Date.UTC(2026, 5, 15, 10, 20, 30)],
    ['2026-06-15T10:20:30', Date.UTC(2026, 5, 15, 10, 20, 30)],
    ['2026-06-15T10:20', Date.UTC(2026, 5, 15, 10, 20)],
    ['2026-06-15t10:20:30z', Date.UTC(2026, 5, 15, 10, 20, 30)],
    ['2026-06-15T10:20:30.5Z', Date.UTC(2026, 5, 15, 10, 20, 30, 500)],
    ['2026-06-15T10:20:30,25Z', Date.UTC(2026, 5, 15, 10, 20, 30, 250)],
    ['2026-06-15T10:20:30.123999Z', Date.UTC(2026, 5, 15, 10, 20, 30, 123)],
    ['2026-06-15T10:20:30.123456789012345Z', Date.UTC(2026, 5, 15, 10, 20, 30, 123)],
    ['1969-12-31T23:59:59.9999Z', -1],
    ['2026-06-15T10:20:30+03:00', Date.UTC(2026, 5, 15, 7, 20, 30)],
    ['2026-06-15T10:20:30+0530', Date.UTC(2026, 5, 15, 4, 50, 30)],
    ['2026-06-15T01:20:30-08', Date.UTC(2026, 5, 15, 9, 20, 30)],
    ['2026-06-15T10:20:30-00:00', Date.UTC(2026, 5, 15, 10, 20, 30)],
    ['2016-12-31T23:59:60Z', Date.UTC(2016, 11, 31, 23, 59, 59)],
    ['2016-12-31T23:59:60.5Z', Date.UTC(2016, 11, 31, 23, 59, 59, 500)],
    ['2017-01-01T05:44:60+05:45', Date.UTC(2016, 11, 31, 23, 59, 59)],
    ['2016-12-31T15:59:60.999-08', Date.UTC(2016, 11, 31, 23, 59, 59, 999)],
    ['1969-12-31T23:59:60Z', -1000],
    ['2024-02-29', Date.UTC(2024, 1, 29)],
    ['2000-02-29', Date.UTC(2000, 1, 29)],
    ['1850-01-01', Date.UTC(1850, 0, 1)],
    ['20260301T093000Z', Date.UTC(2026, 2, 1, 9, 30)],
    ['20260301T0930', Date.UTC(2026, 2, 1, 9, 30)],
    ['20260301t093000,5+0130', Date.UTC(2026, 2, 1, 8, 0, 0, 500)],
    ['20260301T093000.123-08', Date.UTC(2026, 2, 1, 17, 30, 0, 123)],
    ['20161231T235960Z', Date.UTC(2016, 11, 31, 23, 59, 59)],
    ['0001-01-01', YEAR_ONE],
    ['0001-01-01T02:00:00+02:00', YEAR_ONE],
  ])('%s is read', (text, at) => {
    expect(readOccurredAt(text, NOW)).toEqual({ at })
  })

  test.each([
    ['', 'empty'],
    ['lesson 5', 'which Date.parse takes for a date'],
    ['yesterday', 'words'],
    ['2026', 'a year'],
    ['2026-06', 'a month'],
    ['20260615', 'the basic form without a time'],
    ['20260615T', 'the basic form with a T alone'],
    ['20260615T09', 'an hour alone'],
    ['20260615T093', 'half a minute'],
    ['20260615T0930:00', 'two forms in one time'],
    ['2026-06-15T093000Z', 'two forms in one text'],
    ['20260615T09:30:00Z', 'two forms in one text'],
    ['20260615T093000+03:00', 'the offset of the extended form'],
    ['20260615093000', 'digits alone'],
    ['2026-W25-1', 'a week date'],
    ['2026-166', 'a day of the year'],
    ['06/15/2026', 'slashes'],
    ['2026-6-15', 'short parts'],
    ['Mon, 15 Jun 2026 10:00:00 GMT', 'RFC 2822'],
    ['1781517600000', 'milliseconds as text'],
    ['2026-06-15 10:20:30', 'a space for the T'],
    ['2026-06-15T10', 'an hour alone'],
    ['2026-06-15T', 'no time after the T'],
    ['2026-06-15Z', 'an offset without a time'],
    ['2026-06-15T10:20.5Z', 'a fraction of a minute'],
    ['2026-06-15T10:20:30.Z', 'an empty fraction'],
    [' 2026-06-15', 'white space before'],
    ['2026-06-15\n', 'a line break behind'],
    ['2026-06-15T10:20:30[Europe/Paris]', 'a zone name'],
    ['2026-06-15T10:20:30 Europe/Paris', 'a zone name'],
    ['2026-06-15T10:20:30+03:00:15', 'an offset with seconds'],
    ['2026-06-15T10:20:30\u221203:00', 'a typographic minus'],
    ['+002026-06-15T10:20:30Z', 'an expanded year'],
    ['-000001-06-15T10:20:30Z', 'a negative year'],
    ['２０２６-06-15', 'digits of another script'],
    ['2026-06-15\0', 'a NUL'],
  ])('%j is refused: %s', (text) => {
    expect(readOccurredAt(text, NOW)).toEqual({ fault: containing('occurredAt must be a real ISO 8601') })
  })

  test.each([
    '2026-02-29',
    '2026-02-30',
    '1900-02-29',
    '2026-04-31',
    '2026-13-01',
    '2026-00-10',
    '2026-01-00',
    '2026-01-32',
    '2026-01-01T24:00:00Z',
    '2026-01-01T25:00:00Z',
    '2026-01-01T10:60:00Z',
    '2026-01-01T10:00:61Z',
    '2016-12-31T12:30:60Z',
    '2016-12-31T23:58:60Z',
    '2016-12-31T00:00:60Z',
    '2016-12-31T23:59:60+05:45',
    '2026-01-01T10:00:00+24:00',
    '2026-01-01T10:00:00+10:60',
  ])('%s does not exist', (text) => {
    expect(readOccurredAt(text, NOW)).toHaveProperty('fault')
  })

  test.each(['0000-12-31', '0000-01-01T00:00:00Z', '0001-01-01T00:00:00+00:01', '0000-12-31T23:59:59.999Z'])(
    '%s is before year 1',
    (text) => {
      expect(readOccurredAt(text, NOW)).toEqual({ fault: 'occurredAt must not be before year 1' })
    },
  )
})

describe('a number', () => {
  test.each([
    [0, 0],
    [-0, 0],
    [1, 1],
    [-1, -1],
    [NOW, NOW],
    [NOW - 0.5, NOW - 1],
    [-0.5, -1],
    [99_999_999, 99_999_999],
    [100_000_000_000, 100_000_000_000],
    [-100_000_000_000, -100_000_000_000],
    [YEAR_ONE, YEAR_ONE],
  ])('%d is epoch milliseconds', (value, at) => {
    expect(readOccurredAt(value, NOW)).toStrictEqual({ at })
  })

  test.each([100_000_000, 1_781_517_600, 99_999_999_999, -100_000_000, -99_999_999_999])(
    '%d reads as seconds: taken as milliseconds, with a warning',
    (value) => {
      expect(readOccurredAt(value, NOW)).toEqual({ at: value, warning: containing('looks like seconds') })
    },
  )

  test.each([NaN, Infinity, -Infinity, YEAR_ONE - 1, -8.64e15, 8.64e15, 1e21, Number.MAX_VALUE])(
    '%d is refused',
    (value) => {
      expect(readOccurredAt(value, NOW)).toHaveProperty('fault')
    },
  )
})

describe('the future', () => {
  const text = (at: number): string => new Date(at).toISOString()

  test('5 minutes ahead is taken, one millisecond more is refused', () => {
    expect(readOccurredAt(NOW + 5 * MINUTE, NOW)).toEqual({ at: NOW + 5 * MINUTE })
    expect(readOccurredAt(text(NOW + 5 * MINUTE), NOW)).toEqual({ at: NOW + 5 * MINUTE })
    const fault = 'occurredAt must not be more than 5 minutes in the future'
    expect(readOccurredAt(NOW + 5 * MINUTE + 1, NOW)).toEqual({ fault })
    expect(readOccurredAt(text(NOW + 5 * MINUTE + 1), NOW)).toEqual({ fault })
    expect(readOccurredAt('9999-12-31', NOW)).toEqual({ fault })
  })
})

describe('every instant of the past', () => {
  const instant = fc.integer({ min: YEAR_ONE, max: NOW })

  test('is read back from what toISOString writes', () => {
    fc.assert(
      fc.property(instant, (at) => {
        expect(readOccurredAt(new Date(at).toISOString(), NOW)).toEqual({ at })
      }),
    )
  })

  test('is the same in every offset', () => {
    const later = fc.integer({ min: YEAR_ONE + 86_400_000, max: NOW })
    fc.assert(
      fc.property(later, fc.integer({ min: -1439, max: 1439 }), (at, offset) => {
        const local = new Date(at + offset * MINUTE).toISOString().slice(0, -1)
        const hours = String(Math.floor(Math.abs(offset) / 60)).padStart(2, '0')
        const minutes = String(Math.abs(offset) % 60).padStart(2, '0')
        expect(readOccurredAt(`${local}${offset < 0 ? '-' : '+'}${hours}:${minutes}`, NOW)).toEqual({ at })
      }),
    )
  })

  test('no text makes it throw', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.,+Zz-]*$/)),
        (text) => {
          const result = readOccurredAt(text, NOW)
          expect('at' in result ? Number.isSafeInteger(result.at) : result.fault.length > 0).toBe(true)
        },
      ),
    )
  })
})
