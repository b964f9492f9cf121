import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FIELD_TYPES, type FieldType, type TraitValue } from '../../src/rules/events/facts.ts'
import { fits, inferFieldType, isDateShaped, readTraits, wins, type TraitEntry } from '../../src/rules/events/traits.ts'
import { containing } from './containing.ts'
import { runs } from '../support/runs.ts'

describe('readTraits', () => {
  const longestKey = `k${'1'.repeat(63)}`

  test.each(['plan', 'a', 'a1', 'last_plan_2', 'a_1', 'constructor', 'prototype', 'to_string', longestKey])(
    'the key %s is taken',
    (key) => {
      expect(readTraits({ [key]: 1 })).toEqual({ traits: { [key]: 1 }, warnings: [], faults: [] })
    },
  )

  test.each([
    '',
    'Plan',
    'planName',
    'plan-name',
    'plan name',
    'plan.name',
    '_plan',
    'plan_',
    'plan__name',
    '1plan',
    'план',
    'plan\n',
    '__proto__',
    'hasOwnProperty',
    `${longestKey}1`,
  ])('the key %j is skipped with a warning', (key) => {
    const raw = JSON.parse(`{${JSON.stringify(key)}:1,"kept":2}`) as Record<string, unknown>
    const { traits, warnings, faults } = readTraits(raw)
    expect(traits).toEqual({ kept: 2 })
    expect(warnings).toEqual([containing('snake_case')])
    expect(faults).toEqual([])
  })

  test('one warning each, and none carries what cannot be stored', () => {
    const { warnings } = readTraits({ 'bad\0key': 1, '\uD800': 2, [`${'x'.repeat(63)}😀`]: 3 })
    expect(warnings).toHaveLength(3)
    for (const warning of warnings) {
      expect(warning.isWellFormed()).toBe(true)
      expect(warning).not.toContain('\0')
    }
  })

  const many = (count: number, prefix: string, value: unknown = 1) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, value]))

  test('500 of a call are taken, and one warning says how many were not', () => {
    expect(readTraits(many(500, 'a')).warnings).toEqual([])
    const { traits, warnings } = readTraits({ ...many(500, 'a'), b: 1 })
    expect(traits).toEqual(many(500, 'a'))
    expect(warnings).toEqual(['1 trait was skipped: a call has at most 500'])
    expect(readTraits(many(700, 'a')).warnings).toEqual(['200 traits were skipped: a call has at most 500'])
  })

  test.each([
    ['malformed keys', many(500, 'Bad')],
    ['texts that are too long', many(500, 'a', 'x'.repeat(4097))],
  ])('500 %s take the place of none', (_what, bad) => {
    const { traits, warnings } = readTraits({ ...bad, plan: 'pro' })
    expect(traits).toEqual({ plan: 'pro' })
    expect(warnings).toHaveLength(500)
  })

  test('500 are warned of one by one, the rest in one warning', () => {
    const { warnings } = readTraits({ ...many(501, 'Bad'), ...many(501, 'a') })
    expect(warnings).toHaveLength(502)
    expect(warnings.slice(499)).toEqual([
      containing('traits.Bad499 was skipped'),
      '1 more trait was skipped for the same reasons',
      '1 trait was skipped: a call has at most 500',
    ])
    expect(readTraits(many(100_000, 'Bad')).warnings.at(-1)).toBe('99500 more traits were skipped for the same reasons')
  })

  test('a wrong type is refused after 500 good and 500 bad keys, and 20 are reported', () => {
    const { faults } = readTraits({ ...many(501, 'a'), ...many(501, 'Bad'), ...many(30, 'z', {}) })
    expect(faults.map(({ path }) => path)).toEqual(Array.from({ length: 20 }, (_, at) => `traits.z${at}`))
  })

  test.each<TraitValue>([
    'gold',
    '',
    ' spaces stay ',
    0,
    -1.5,
    1e308,
    true,
    false,
    null,
    '😀',
    'x'.repeat(4096),
    "'; drop table contacts; --",
  ])('the value %j is kept as it was sent', (value) => {
    expect(readTraits({ plan: value })).toEqual({ traits: { plan: value }, warnings: [], faults: [] })
  })

  test.each<unknown>([{}, [], ['gold'], { a: 1 }, Infinity, -Infinity, NaN, undefined])(
    'the value %j is refused',
    (value) => {
      expect(readTraits({ plan: value, kept: 1 })).toEqual({
        traits: { kept: 1 },
        warnings: [],
        faults: [
          {
            path: 'traits.plan',
            message: 'traits.plan must be a string, a finite number, a boolean or null',
            code: 'trait',
          },
        ],
      })
    },
  )

  test('a wrong type is refused under a wrong key too', () => {
    expect(readTraits({ 'Bad Key': {} }).faults).toHaveLength(1)
  })

  test('a text of 4097 characters is skipped with a warning', () => {
    expect(readTraits({ plan: 'x'.repeat(4097) })).toEqual({
      traits: {},
      warnings: [containing('at most 4096')],
      faults: [],
    })
  })

  test('what cannot be stored is replaced, with a warning', () => {
    expect(readTraits({ plan: 'a\0b\uD800' })).toEqual({
      traits: { plan: 'a\uFFFDb\uFFFD' },
      warnings: ['traits.plan held characters that cannot be stored; they were replaced'],
      faults: [],
    })
  })
})

describe('date-shaped', () => {
  test.each([
    ['2026-06-15', true],
    ['2024-02-29', true],
    ['2026-06-15T10:20', true],
    ['2026-06-15T10:20:30', true],
    ['2026-06-15T10:20:30.123Z', true],
    ['2026-06-15T10:20:30+03:00', true],
    ['2126-06-15', true],
    ['2026-02-29', false],
    ['2026-02-30', false],
    ['2026-13-01', false],
    ['2026-06-15T25:00', false],
    ['2026', false],
    ['2026-06', false],
    ['20260615', false],
    ['15.06.2026', false],
    ['06/15/2026', false],
    ['lesson 5', false],
    ['May 5', false],
    [' 2026-06-15', false],
    ['2026-06-15 10:20', false],
    ['1781517600000', false],
    ['', false],
  ])('%j: %s', (text, shaped) => {
    expect(isDateShaped(text)).toBe(shaped)
  })
})

describe('field types', () => {
  /** Lists the types of fields that accept a value. The first one is the inferred type. */
  const table: [TraitValue, FieldType[]][] = [
    [42, ['Number']],
    [0, ['Number']],
    [true, ['Boolean']],
    [false, ['Boolean']],
    ['2026-06-15', ['Date', 'Text']],
    ['2026-06-15T10:20:30Z', ['Date', 'Text']],
    ['2026-02-30', ['Text']],
    ['gold', ['Text']],
    ['42', ['Text']],
    ['true', ['Text']],
    ['', ['Text']],
  ]

  test.each(table)('%j infers the first of %j', (value, [type]) => {
    expect(value === null ? null : inferFieldType(value)).toBe(type)
  })

  test.each(table)('%j fits %j alone', (value, types) => {
    expect(FIELD_TYPES.filter((type) => fits(type, value)).toSorted()).toEqual(types)
  })

  test('null clears a field of any type', () => {
    expect(FIELD_TYPES.every((type) => fits(type, null))).toBe(true)
  })
})

describe('wins', () => {
  test.each<[string, TraitEntry, TraitEntry]>([
    ['the newer wins', [2, '"a"'], [1, '"b"']],
    ['a newer clearing wins', [2, null], [1, '"b"']],
    ['a value newer than a clearing wins', [2, '"a"'], [1, null]],
    ['at equal times a value beats null', [1, '0'], [1, null]],
    ['at equal times the greater bytes win', [1, '"b"'], [1, '"a"']],
    ['a longer one beats its beginning', [1, '10'], [1, '1']],
    ['bytes, not numbers', [1, '9'], [1, '10']],
    ['true is greater than false', [1, 'true'], [1, 'false']],
    ['bytes, not UTF-16 units', [1, '"😀"'], [1, '"\uFFFD"']],
  ])('%s', (_rule, winner, loser) => {
    expect(wins(winner, loser)).toBe(true)
    expect(wins(loser, winner)).toBe(false)
  })

  const value = fc.oneof(
    fc.constantFrom('"😀"', '"\uFFFD"', '1', '10', '""'),
    fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
  )
  const entry = fc.tuple(fc.integer({ min: 0, max: 2 }), fc.option(value))
  const same = (a: TraitEntry, b: TraitEntry): boolean => a[0] === b[0] && a[1] === b[1]

  test('is a strict total order', () => {
    fc.assert(
      fc.property(entry, entry, entry, (a, b, c) => {
        expect(wins(a, a)).toBe(false)
        expect(Number(wins(a, b)) + Number(wins(b, a))).toBe(same(a, b) ? 0 : 1)
        if (wins(a, b) && wins(b, c)) expect(wins(a, c)).toBe(true)
      }),
      { numRuns: runs(1000) },
    )
  })

  test('compares values as their bytes', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(wins([1, a], [1, b])).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)) > 0)
      }),
    )
  })

  test('the same entry is left in any order of arrival', () => {
    const newest = (entries: TraitEntry[]): TraitEntry | undefined =>
      entries.reduce<TraitEntry | undefined>(
        (kept, next) => (kept === undefined || wins(next, kept) ? next : kept),
        undefined,
      )
    const shuffled = fc
      .array(entry)
      .chain((entries) => fc.tuple(fc.constant(entries), fc.shuffledSubarray(entries, { minLength: entries.length })))
    fc.assert(
      fc.property(shuffled, ([entries, other]) => {
        expect(newest(other)).toEqual(newest(entries))
      }),
    )
  })
})
