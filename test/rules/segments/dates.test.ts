import { describe, expect, test } from 'vitest'
import { factsOf, withEvent, withField } from './facts-of.ts'
import { compiled, holds } from './rule-of.ts'

const DAY = 86_400_000
const NOW = Date.parse('2026-11-20T12:00:00Z')
const iso = (at: number): string => new Date(at).toISOString()
const last = (operator: string, value?: unknown) => ({ event: 'purchase', metric: 'last', operator, value })
const field = (operator: string, value?: unknown) => ({ customField: 'field', operator, value })
const fields = { field: 'Date' } as const
const lastAt = (at: number) => withEvent({ lastAt: at })

describe('the last time of an event', () => {
  test.each([
    ['30 days ago, to the millisecond', 30, -30 * DAY, true],
    ['1 ms more than 30 days ago', 30, -30 * DAY - 1, false],
    ['now', 30, 0, true],
    ['5 minutes ahead', 30, 300_000, true],
    ['half a day ago', 0.5, -DAY / 2, true],
    ['1 ms more than half a day ago', 0.5, -DAY / 2 - 1, false],
    // 8.64 ms: the eighth millisecond is the last one included.
    ['8 ms ago', 1e-7, -8, true],
    ['9 ms ago', 1e-7, -9, false],
    // 0.1 ms: includes only its own millisecond.
    ['at the same millisecond', 1.157e-9, 0, true],
    ['1 ms ago', 1.157e-9, -1, false],
    ['36,500 days ago', 36_500, -36_500 * DAY, true],
    ['1 ms more than 36,500 days ago', 36_500, -36_500 * DAY - 1, false],
  ])('%s, is within %d days or older', (_, days, ago, isWithin) => {
    expect(holds(last('within_days', days), lastAt(NOW + ago), NOW)).toBe(isWithin)
    expect(holds(last('older_than_days', days), lastAt(NOW + ago), NOW)).toBe(!isWithin)
  })

  test('days are the decimal that was written, not the double nearest to it', () => {
    // As doubles, 4.1 × 86,400,000 is 354239999.99999994, which is 1 ms too early after rounding down.
    for (let tenths = 1; tenths < 3000; tenths += 1) {
      const rule = compiled(last('within_days', tenths / 10))
      expect(rule.nextChange(lastAt(0), 0)).toBe(tenths * 8_640_000 + 1)
    }
  })

  test('before and after are strict', () => {
    for (const [at, before, after] of [
      [NOW - 1, true, false],
      [NOW, false, false],
      [NOW + 1, false, true],
    ] as const) {
      expect(holds(last('before', iso(NOW)), lastAt(at))).toBe(before)
      expect(holds(last('after', iso(NOW)), lastAt(at))).toBe(after)
    }
  })

  test.each([
    ['2026-11-20', '2026-11-20T00:00:00Z'],
    ['20261120T120000Z', '2026-11-20T12:00:00Z'],
    ['2026-11-20T12:00', '2026-11-20T12:00:00Z'],
    ['2026-11-20T14:00:00,5+02:00', '2026-11-20T12:00:00.500Z'],
    ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59Z'],
  ])('the instant %s is %s', (written, instant) => {
    const at = Date.parse(instant)
    expect(holds(last('before', written), lastAt(at))).toBe(false)
    expect(holds(last('before', written), lastAt(at - 1))).toBe(true)
    expect(holds(last('after', written), lastAt(at))).toBe(false)
    expect(holds(last('after', written), lastAt(at + 1))).toBe(true)
  })

  test('without the event only not_exists is true', () => {
    for (const rule of [
      last('exists'),
      last('within_days', 30),
      last('older_than_days', 30),
      last('before', '9999-12-31'),
      last('after', '0001-01-01'),
    ])
      expect(holds(rule, factsOf(), NOW)).toBe(false)
    expect(holds(last('not_exists'), factsOf())).toBe(true)
    expect(holds(last('exists'), lastAt(0))).toBe(true)
    expect(holds(last('not_exists'), lastAt(0))).toBe(false)
  })

  test('not turns the answer round', () => {
    expect(holds({ not: last('within_days', 30) }, factsOf(), NOW)).toBe(true)
    expect(holds({ not: last('not_exists') }, factsOf(), NOW)).toBe(false)
  })
})

test('the first time of an event is another than the last', () => {
  const facts = withEvent({ firstAt: NOW - 10 * DAY, lastAt: NOW })
  expect(holds({ ...last('older_than_days', 5), metric: 'first' }, facts, NOW)).toBe(true)
  expect(holds(last('older_than_days', 5), facts, NOW)).toBe(false)
})

describe('createdAt', () => {
  const created = (operator: string, value?: unknown) => ({ attribute: 'createdAt', operator, value })
  test('is a date that every contact has', () => {
    const facts = factsOf({ createdAt: NOW })
    expect(holds(created('exists'), facts)).toBe(true)
    expect(holds(created('not_exists'), facts)).toBe(false)
    expect(holds(created('within_days', 1), facts, NOW + DAY)).toBe(true)
    expect(holds(created('within_days', 1), facts, NOW + DAY + 1)).toBe(false)
    expect(holds(created('older_than_days', 1), facts, NOW + DAY + 1)).toBe(true)
    expect(holds(created('before', iso(NOW + 1)), facts)).toBe(true)
    expect(holds(created('after', iso(NOW)), facts)).toBe(false)
  })
})

describe('a date of a custom field', () => {
  const at = (instant: number) => withField(iso(instant))

  test('is within the last days from its own instant on', () => {
    expect(holds(field('within_days', 2), at(NOW), NOW - 1, { fields })).toBe(false)
    expect(holds(field('within_days', 2), at(NOW), NOW, { fields })).toBe(true)
    expect(holds(field('within_days', 2), at(NOW), NOW + 2 * DAY, { fields })).toBe(true)
    expect(holds(field('within_days', 2), at(NOW), NOW + 2 * DAY + 1, { fields })).toBe(false)
  })

  test('that lies ahead is not older than any days either', () => {
    expect(holds(field('older_than_days', 2), at(NOW), NOW - 1, { fields })).toBe(false)
    expect(holds(field('older_than_days', 2), at(NOW), NOW + 2 * DAY, { fields })).toBe(false)
    expect(holds(field('older_than_days', 2), at(NOW), NOW + 2 * DAY + 1, { fields })).toBe(true)
  })

  test('is within the next days up to its own instant, ends in', () => {
    expect(holds(field('within_next_days', 2), at(NOW), NOW - 2 * DAY - 1, { fields })).toBe(false)
    expect(holds(field('within_next_days', 2), at(NOW), NOW - 2 * DAY, { fields })).toBe(true)
    expect(holds(field('within_next_days', 2), at(NOW), NOW, { fields })).toBe(true)
    expect(holds(field('within_next_days', 2), at(NOW), NOW + 1, { fields })).toBe(false)
    // 8.64 ms.
    expect(holds(field('within_next_days', 1e-7), at(NOW), NOW - 8, { fields })).toBe(true)
    expect(holds(field('within_next_days', 1e-7), at(NOW), NOW - 9, { fields })).toBe(false)
  })

  test('alone, without a time, is midnight UTC', () => {
    const facts = withField('2026-11-20')
    expect(holds(field('after', '2026-11-19T23:59:59.999Z'), facts, 0, { fields })).toBe(true)
    expect(holds(field('after', '2026-11-20T00:00:00Z'), facts, 0, { fields })).toBe(false)
    expect(holds(field('before', '2026-11-20T00:00:00.001Z'), facts, 0, { fields })).toBe(true)
  })

  test('is compared as an instant, whatever its offset', () => {
    const facts = withField('2026-11-20T14:00:00+02:00')
    expect(holds(field('after', '2026-11-20T12:00:00Z'), facts, 0, { fields })).toBe(false)
    expect(holds(field('after', '2026-11-20T11:59:59.999Z'), facts, 0, { fields })).toBe(true)
  })
})

describe('the next change', () => {
  test('for within_days is 1 ms after the last instant that is in', () => {
    const rule = compiled(last('within_days', 30))
    expect(rule.nextChange(lastAt(NOW), NOW)).toBe(NOW + 30 * DAY + 1)
    expect(rule.nextChange(lastAt(NOW), NOW + 30 * DAY)).toBe(NOW + 30 * DAY + 1)
    expect(rule.nextChange(lastAt(NOW), NOW + 30 * DAY + 1)).toBeNull()
    expect(rule.nextChange(factsOf(), NOW)).toBeNull()
  })

  test('for a date that lies ahead is the instant at which it comes into the range', () => {
    const facts = withField(iso(NOW))
    const within = compiled(field('within_days', 1), { fields })
    expect(within.nextChange(facts, NOW - 5)).toBe(NOW)
    expect(within.nextChange(facts, NOW)).toBe(NOW + DAY + 1)
    const next = compiled(field('within_next_days', 1), { fields })
    expect(next.nextChange(facts, 0)).toBe(NOW - DAY)
    expect(next.nextChange(facts, NOW - DAY)).toBe(NOW + 1)
    expect(next.nextChange(facts, NOW + 1)).toBeNull()
  })

  test('leaves out instants at which the answer stays the same', () => {
    const hasNever = { event: 'visit', metric: 'last', operator: 'exists' }
    const never = compiled({ all: [last('within_days', 30), hasNever] })
    expect(never.nextChange(lastAt(NOW), NOW)).toBeNull()
    const either = compiled({ any: [last('within_days', 1), last('within_days', 7)] })
    expect(either.nextChange(lastAt(NOW), NOW)).toBe(NOW + 7 * DAY + 1)
    // At the same instant, one begins and the other ends.
    const always = compiled({ any: [last('within_days', 1), last('older_than_days', 1)] })
    expect(always.nextChange(lastAt(NOW), NOW)).toBeNull()
  })

  test('is null where only instants are fixed, and for windowed conditions', () => {
    const windowed = { event: 'purchase', metric: 'count', withinDays: 30, operator: 'equals', value: 1 }
    for (const raw of [last('before', iso(NOW)), last('exists'), windowed]) {
      const rule = compiled(raw)
      expect(rule.isTimed).toBe(false)
      expect(rule.nextChange(lastAt(NOW), 0)).toBeNull()
    }
  })

  test('goes through the rules of inner segments', () => {
    const segments = { inner: last('within_days', 1) as never }
    const rule = compiled({ segment: 'inner', operator: 'is_not_member' }, { segments })
    expect(rule.isTimed).toBe(true)
    expect(rule.nextChange(lastAt(NOW), NOW)).toBe(NOW + DAY + 1)
  })
})
