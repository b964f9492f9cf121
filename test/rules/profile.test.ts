import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PROFILE_FIELDS, type Profile } from '../../src/rules/events/facts.ts'
import { readProfile as readProfileOf, type RawProfile } from '../../src/rules/identity/profile.ts'
import { containing } from './containing.ts'

const FIELDS = ['name', 'firstName', 'lastName', 'country', 'city', 'language', 'timezone'] as const

const readProfile = (raw: RawProfile) => readProfileOf(raw, { keyed: true })

describe('names', () => {
  test.each<[RawProfile, Profile]>([
    [{ name: 'Anna' }, { firstName: 'Anna' }],
    [{ name: 'Anna Petrova' }, { firstName: 'Anna', lastName: 'Petrova' }],
    [{ name: 'Anna Maria de la Cruz' }, { firstName: 'Anna', lastName: 'Maria de la Cruz' }],
    [{ name: ' \t Anna \n Petrova  ' }, { firstName: 'Anna', lastName: 'Petrova' }],
    [{ name: 'Anna\u00A0Petrova' }, { firstName: 'Anna', lastName: 'Petrova' }],
    [{ name: '\u0085Anna\u0085Petrova\u0085' }, { firstName: 'Anna', lastName: 'Petrova' }],
    [{ name: '   ' }, {}],
    [{ name: '\u0085' }, {}],
    [{ name: '' }, {}],
    [{ name: null }, {}],
    [{ name: '山田 太郎' }, { firstName: '山田', lastName: '太郎' }],
    [
      { name: 'Anna Petrova', firstName: 'Anya' },
      { firstName: 'Anya', lastName: 'Petrova' },
    ],
    [
      { name: 'Anna Petrova', lastName: 'Smith' },
      { firstName: 'Anna', lastName: 'Smith' },
    ],
    [
      { name: 'Anna Petrova', firstName: 'A', lastName: 'B' },
      { firstName: 'A', lastName: 'B' },
    ],
    [
      { name: 'Anna', lastName: 'Smith' },
      { firstName: 'Anna', lastName: 'Smith' },
    ],
    [
      { name: 'Anna Petrova', firstName: null, lastName: ' ' },
      { firstName: 'Anna', lastName: 'Petrova' },
    ],
    [{ firstName: ' Anna Maria ' }, { firstName: 'Anna Maria' }],
  ])('%j gives %j', (raw, profile) => {
    expect(readProfile(raw)).toStrictEqual({ profile, warnings: [], faults: [] })
  })
})

test('null is as if it had not been sent, for every field', () => {
  const raw = Object.fromEntries(FIELDS.map((field) => [field, null]))
  expect(readProfile(raw)).toStrictEqual({ profile: {}, warnings: [], faults: [] })
  expect(readProfile({})).toStrictEqual({ profile: {}, warnings: [], faults: [] })
})

test('a whole profile is read', () => {
  const raw = { name: 'Anna Petrova', country: 'Israel', city: ' Haifa ', language: 'he', timezone: 'Asia/Jerusalem' }
  expect(readProfile(raw)).toStrictEqual({
    profile: {
      firstName: 'Anna',
      lastName: 'Petrova',
      country: 'Israel',
      city: 'Haifa',
      language: 'he',
      timezone: 'Asia/Jerusalem',
    },
    warnings: [],
    faults: [],
  })
})

describe('lengths', () => {
  test.each(FIELDS)('%s of 256 characters is accepted, of 257 it is a fault', (field) => {
    expect(readProfile({ [field]: ` ${'x'.repeat(256)} ` }).faults).toEqual([])
    expect(readProfile({ [field]: 'x'.repeat(257) })).toEqual({
      profile: {},
      warnings: [],
      faults: [
        {
          path: `profile.${field}`,
          message: `profile.${field} must be at most 256 characters`,
          code: 'characters_up_to',
          values: { max: 256 },
        },
      ],
    })
  })
})

describe('language', () => {
  test.each(['en', 'EN', 'en-US', 'pt-br', 'zh-Hans-CN', 'fil', 'es-419', 'sr-Latn', 'de-DE-u-co-phonebk', ' he '])(
    '%s is stored as it was sent',
    (language) => {
      expect(readProfile({ language })).toStrictEqual({
        profile: { language: language.trim() },
        warnings: [],
        faults: [],
      })
    },
  )

  test.each([
    ['de_DE', 'de-DE'],
    ['en_US', 'en-US'],
    [' zh_Hans_CN ', 'zh-Hans-CN'],
    ['sr_Latn-RS', 'sr-Latn-RS'],
  ])('%j is stored as %s', (sent, language) => {
    expect(readProfile({ language: sent })).toStrictEqual({ profile: { language }, warnings: [], faults: [] })
  })

  test.each([
    'english',
    'en_',
    '_en',
    'en__US',
    'de_DE.UTF-8',
    'English',
    'e',
    'en-',
    'en--US',
    '-en',
    '12',
    'русский',
    'en US',
    'en;q=1',
    '*',
    'c++',
    'en\0',
  ])('%j is not stored, with a warning', (language) => {
    const { profile, warnings, faults } = readProfile({ language, city: 'Haifa' })
    expect(profile).toStrictEqual({ city: 'Haifa' })
    expect(warnings).toContainEqual(containing('profile.language was not stored'))
    expect(faults).toEqual([])
  })
})

describe('time zone', () => {
  test.each([
    ['Europe/Moscow', 'Europe/Moscow'],
    ['America/Argentina/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
    ['America/Port-au-Prince', 'America/Port-au-Prince'],
    ['Asia/Calcutta', 'Asia/Calcutta'],
    ['Asia/Kolkata', 'Asia/Kolkata'],
    ['Europe/Kyiv', 'Europe/Kyiv'],
    ['Etc/GMT+5', 'Etc/GMT+5'],
    ['Etc/UTC', 'Etc/UTC'],
    ['US/Eastern', 'US/Eastern'],
    ['UTC', 'UTC'],
    [' europe/moscow ', 'Europe/Moscow'],
  ])('%j is stored as %s', (sent, timezone) => {
    expect(readProfile({ timezone: sent })).toStrictEqual({ profile: { timezone }, warnings: [], faults: [] })
  })

  test.each([
    'Mars/Phobos',
    'Moscow',
    'Europe/',
    '/Moscow',
    'Europe',
    'EST',
    'EST5EDT',
    'GMT',
    'Israel',
    'MSK',
    '+03:00',
    'UTC+3',
    'GMT+3',
    'Z',
    'Europe/Moscow\0',
    'Europe\\Moscow',
    '../etc/passwd',
    '2026-01-01T00:00[Europe/Paris]',
    '[Europe/Paris]',
  ])('%j is not stored, with a warning', (timezone) => {
    const { profile, warnings, faults } = readProfile({ timezone, city: 'Haifa' })
    expect(profile).toStrictEqual({ city: 'Haifa' })
    expect(warnings).toContainEqual(containing('profile.timezone was not stored'))
    expect(faults).toEqual([])
  })

  test('every zone that this runtime lists is known by its own name', () => {
    for (const timezone of Intl.supportedValuesOf('timeZone').filter((zone) => zone.includes('/'))) {
      expect(readProfile({ timezone }).profile).toEqual({ timezone })
    }
  })
})

describe('what cannot be stored', () => {
  test('is replaced, with a warning', () => {
    expect(readProfile({ name: 'An\0na \uD800', city: 'Ha\uDC00ifa' })).toEqual({
      profile: { firstName: 'An\uFFFDna', lastName: '\uFFFD', city: 'Ha\uFFFDifa' },
      warnings: [
        'profile.name held characters that cannot be stored; they were replaced',
        'profile.city held characters that cannot be stored; they were replaced',
      ],
      faults: [],
    })
  })

  test('no text makes it throw, and what is left is clean', () => {
    const text = fc.option(fc.string({ unit: 'binary' }))
    const raw = fc.record(Object.fromEntries(FIELDS.map((field) => [field, text])))
    fc.assert(
      fc.property(raw, (raw) => {
        const { profile } = readProfile(raw)
        for (const field of PROFILE_FIELDS) {
          const value = profile[field]
          if (value === undefined) continue
          expect(value.isWellFormed() && !value.includes('\0')).toBe(true)
          expect(value).toBe(value.trim())
          expect(value).not.toBe('')
        }
      }),
    )
  })
})

describe('a name sent without a key', () => {
  const NAMES = ['name', 'firstName', 'lastName'] as const
  const fromPage = (raw: RawProfile) => readProfileOf(raw, { keyed: false })
  const ignored = (field: string) =>
    `profile.${field} was ignored: without a secret key a name has at most 100 characters and holds no address`

  test.each(NAMES)('%s has 100 characters at most; a server may send 256', (field) => {
    const [longest, longer] = ['x'.repeat(100), 'x'.repeat(101)]
    expect(fromPage({ [field]: ` ${longest} ` })).toMatchObject({ warnings: [], faults: [] })
    expect(Object.values(fromPage({ [field]: longest }).profile)).toEqual([longest])
    expect(fromPage({ [field]: longer })).toEqual({ profile: {}, warnings: [ignored(field)], faults: [] })
    expect(Object.values(readProfile({ [field]: longer }).profile)).toEqual([longer])
  })

  test.each(
    NAMES.flatMap((field) =>
      ['Win at HTTPS://evil.example', 'see WwW.evil.example', '://', 'a www.'].map((text) => [field, text] as const),
    ),
  )('%s that holds an address is ignored: %s', (field, text) => {
    expect(fromPage({ [field]: text })).toEqual({ profile: {}, warnings: [ignored(field)], faults: [] })
    expect(readProfile({ [field]: text }).warnings).toEqual([])
  })

  test('is judged as it was sent, before it is split', () => {
    const words = `${'x'.repeat(50)} ${'y'.repeat(50)}`
    expect(fromPage({ name: words })).toEqual({ profile: {}, warnings: [ignored('name')], faults: [] })
  })

  test('is ignored by itself: what is sent beside it counts', () => {
    expect(fromPage({ name: 'Ann www.x', firstName: 'Ann', city: 'www.haifa' })).toEqual({
      profile: { firstName: 'Ann', city: 'www.haifa' },
      warnings: [ignored('name')],
      faults: [],
    })
    expect(fromPage({ name: 'Ann Lee', firstName: '://' }).profile).toEqual({ firstName: 'Ann', lastName: 'Lee' })
  })

  test.each([`O'Brien`, 'Dr. W.W. Smith', 'Anna: Maria / Lee', 'wwwilliam'])('such as %s is a name', (name) => {
    expect(fromPage({ firstName: name })).toEqual({ profile: { firstName: name }, warnings: [], faults: [] })
  })
})
