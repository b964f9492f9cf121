import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readIdentity, type RawIdentity } from '../../src/rules/identity/identity.ts'
import { containing } from './containing.ts'

const PLACEHOLDERS = [
  'null',
  'undefined',
  'none',
  'n/a',
  'nan',
  'anonymous',
  'guest',
  'unknown',
  'true',
  'false',
  '[object Object]',
  '',
]

const ignored = (kind: string): string => `identity.${kind} was ignored: it is a placeholder, not an identity`

describe('email', () => {
  const longest = `${'a'.repeat(308)}@example.com`

  test.each([
    ['ann@example.com', 'ann@example.com'],
    ['  Ann@Example.COM\n', 'ann@example.com'],
    ['ÄNNE@EXAMPLE.COM', 'änne@example.com'],
    ['a@b', 'a@b'],
    ['\u0085a@b \u0085', 'a@b'],
    ["o'brien+tag@example.com", "o'brien+tag@example.com"],
    ['почта@пример.рф', 'почта@пример.рф'],
    [longest, longest],
    [`  ${longest}  `, longest],
  ])('%j is read', (sent, email) => {
    expect(readIdentity({ email: sent }, null)).toEqual({ identity: { email }, warnings: [], faults: [] })
  })

  test.each([
    ['@b', '3 to 320'],
    ['a@', '3 to 320'],
    ['x', '3 to 320'],
    [`a${longest}`, '3 to 320'],
    ['annexample.com', 'one @'],
    ['@example.com', 'one @'],
    ['ann@', 'one @'],
    ['ann@@example.com', 'one @'],
    ['ann@ex@ample.com', 'one @'],
    ['null@null@null', 'one @'],
    ['null@', 'one @'],
    ['an n@example.com', 'white space'],
    ['ann@example .com', 'white space'],
    ['ann@example\u00A0.com', 'white space'],
    ['ann@exam\u0085ple.com', 'white space'],
    ['ann\0@example.com', 'NUL'],
    ['ann\uD800@example.com', 'lone surrogates'],
  ])('%j is refused', (email, rule) => {
    expect(readIdentity({ email, platformCustomerId: '42' }, null)).toEqual({
      identity: null,
      warnings: [],
      faults: [
        expect.objectContaining({
          path: 'identity.email',
          message: containing(rule),
          code: expect.any(String) as string,
        }),
      ],
    })
  })
})

describe('platformCustomerId', () => {
  test.each<[string | number, string]>([
    ['42', '42'],
    [42, '42'],
    [' 42 ', '42'],
    ['\u008542\u0085', '42'],
    ['Ann', 'Ann'],
    ['a', 'a'],
    ['0', '0'],
    [0, '0'],
    [-0, '0'],
    [-7, '-7'],
    [1.5, '1.5'],
    ['007', '007'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    ['9007199254740993', '9007199254740993'],
    ['i'.repeat(255), 'i'.repeat(255)],
    ['constructor', 'constructor'],
    ['__proto__', '__proto__'],
    ["'; drop table contacts; --", "'; drop table contacts; --"],
  ])('%j is read', (sent, platformCustomerId) => {
    expect(readIdentity({ platformCustomerId: sent }, null)).toEqual({
      identity: { platformCustomerId },
      warnings: [],
      faults: [],
    })
  })

  test.each<[string | number, string]>([
    ['i'.repeat(256), '1 to 255'],
    [Number.MAX_SAFE_INTEGER + 1, 'send it as a string'],
    [-Number.MAX_SAFE_INTEGER - 1, 'send it as a string'],
    [1e21, 'send it as a string'],
    [Infinity, 'send it as a string'],
    ['4\0', 'NUL'],
    ['\uDC00', 'lone surrogates'],
  ])('%j is refused', (platformCustomerId, rule) => {
    expect(readIdentity({ platformCustomerId }, null)).toEqual({
      identity: null,
      warnings: [],
      faults: [
        expect.objectContaining({
          path: 'identity.platformCustomerId',
          message: containing(rule),
          code: expect.any(String) as string,
        }),
      ],
    })
  })
})

describe('phone', () => {
  test.each<[string | number, string | null, string]>([
    ['+7 916 123-45-67', null, '79161234567'],
    ['8 (916) 123-45-67', 'RU', '79161234567'],
    ['9161234567', 'RU', '79161234567'],
    ['8 (916) 123-45-67', 'ru', '79161234567'],
    [79161234567, 'RU', '79161234567'],
    [79161234567, null, '79161234567'],
    ['054-123-4567', 'IL', '972541234567'],
    ['+972 (0)54 123 4567', null, '972541234567'],
    ['00972541234567', 'IL', '972541234567'],
    ['972541234567', 'US', '972541234567'],
    ['(212) 555-0100', 'US', '12125550100'],
    ['+1 (212) 555-0100', 'IL', '12125550100'],
    ['+1 (212) 555-0100 ext. 5', 'US', '12125550100'],
    ['tel:+12125550100', 'IL', '12125550100'],
    ['Mobile: 054-123-4567', 'IL', '972541234567'],
    ['٠٥٤١٢٣٤٥٦٧', 'IL', '972541234567'],
    ['＋１２１２５５５０１００', null, '12125550100'],
    ['+44 20 7946 0958', 'IL', '442079460958'],
    ['06 12345678', 'IT', '390612345678'],
    ['79161234567', 'XX', '79161234567'],
    ['79161234567', 'constructor', '79161234567'],
    // Read as a Turkish number, whose trunk zero is not part of it.
    [Number.MAX_SAFE_INTEGER, null, '907199254740991'],
  ])('%j in %s is read as %s', (sent, country, phone) => {
    expect(readIdentity({ phone: sent }, country)).toEqual({
      identity: { phone, phoneRead: true },
      warnings: [],
      faults: [],
    })
  })

  test.each<[string | number, string | null, string]>([
    ['054-123-4567', null, '0541234567'],
    ['12345', null, '12345'],
    ['ext 12-345', 'US', '12345'],
    [12345, null, '12345'],
    ['+999 123456789', 'US', '999123456789'],
    ['054-1234567 / 054-7654321', 'IL', '05412345670547654321'],
    ['+1 212 555 0100 / +1 212 555 0101', 'US', '1212555010012125550101'],
    ['12'.repeat(32), 'US', '12'.repeat(32)],
    [1234567890123456, null, '1234567890123456'],
  ])('%j in %s cannot be read and is its digits', (sent, country, phone) => {
    expect(readIdentity({ phone: sent }, country)).toEqual({ identity: { phone }, warnings: [], faults: [] })
  })

  test.each<string | number>([
    '1234',
    1234,
    0,
    'abc',
    '+',
    '---',
    '00000',
    '0000000000',
    '+1 111 111 1111',
    55555,
    '(000) 000-0000',
    'call me',
  ])('%j is a placeholder', (phone) => {
    expect(readIdentity({ phone }, 'US')).toEqual({ identity: null, warnings: [ignored('phone')], faults: [] })
  })

  test.each<[string | number, string]>([
    [`+${'1'.repeat(64)}`, 'at most 64'],
    [Number.MAX_SAFE_INTEGER + 1, 'send it as a string'],
    [1e21, 'send it as a string'],
    [79161234567.5, 'whole number'],
    [-79161234567, 'whole number'],
    [NaN, 'whole number'],
    ['+7916123\x004567', 'NUL'],
    ['+7916123\uD8004567', 'lone surrogates'],
  ])('%j is refused', (phone, rule) => {
    expect(readIdentity({ phone }, null)).toEqual({
      identity: null,
      warnings: [],
      faults: [
        expect.objectContaining({
          path: 'identity.phone',
          message: containing(rule),
          code: expect.any(String) as string,
        }),
      ],
    })
  })

  test('64 characters are taken once the space around them is gone', () => {
    const phone = `+7 916 123-45-67${' '.repeat(47)}.`
    expect(phone).toHaveLength(64)
    expect(readIdentity({ phone: `  ${phone}  ` }, null).faults).toEqual([])
  })

  test('the outcome is digits, and reading it again changes nothing', () => {
    const phone = fc.oneof(fc.stringMatching(/^[+0-9() -]{5,40}$/), fc.string({ unit: 'binary', maxLength: 64 }))
    fc.assert(
      fc.property(phone, fc.constantFrom(null, 'RU', 'IL', 'US', 'IT', 'XX'), (phone, country) => {
        const { identity } = readIdentity({ phone }, country)
        if (identity?.phone === undefined) return
        expect(identity.phone).toMatch(/^\d{5,64}$/)
        if (identity.phoneRead !== true) return
        expect(readIdentity({ phone: `+${identity.phone}` }, country).identity).toEqual(identity)
      }),
    )
  })
})

describe('placeholders', () => {
  const kinds = ['email', 'phone', 'platformCustomerId'] as const
  const spellings = [...new Set(PLACEHOLDERS.flatMap((word) => [word, word.toUpperCase(), ` ${word} `]))]

  test.each(kinds.flatMap((kind) => spellings.map((word): [typeof kind, string] => [kind, word])))(
    '%s: %j is ignored with a warning',
    (kind, word) => {
      expect(readIdentity({ [kind]: word }, null)).toEqual({ identity: null, warnings: [ignored(kind)], faults: [] })
    },
  )

  test.each([
    'undefined@undefined',
    'null@null.com',
    'NONE@Unknown.example.org',
    'guest@n/a',
    '[object Object]@[object Object]',
    ' anonymous@guest.co.uk\u0085',
    'nan@.example',
  ])('the email %j is ignored with a warning', (email) => {
    expect(readIdentity({ email }, null)).toEqual({ identity: null, warnings: [ignored('email')], faults: [] })
  })

  test.each([
    'null@example.com',
    'guest@hotel.guest',
    'ada@undefined',
    'unknown@unknowns.com',
    'guest+1@guest.com',
    'none@x.none',
  ])('the email %j is an identity', (email) => {
    expect(readIdentity({ email }, null).identity).toEqual({ email })
  })

  test('the other fields stay', () => {
    expect(readIdentity({ email: 'Guest', phone: 'n/a', platformCustomerId: 42 }, null)).toEqual({
      identity: { platformCustomerId: '42' },
      warnings: [ignored('email'), ignored('phone')],
      faults: [],
    })
  })

  test('a word that only holds a placeholder is an identity', () => {
    expect(readIdentity({ platformCustomerId: 'guest-7' }, null).identity).toEqual({ platformCustomerId: 'guest-7' })
    expect(readIdentity({ email: 'null@example.com' }, null).identity).toEqual({ email: 'null@example.com' })
  })
})

describe('all fields together', () => {
  test('are read together', () => {
    expect(readIdentity({ email: 'A@b.c', phone: '+79161234567', platformCustomerId: 7 }, null)).toEqual({
      identity: { email: 'a@b.c', phone: '79161234567', phoneRead: true, platformCustomerId: '7' },
      warnings: [],
      faults: [],
    })
  })

  test.each<RawIdentity>([{}, { email: null }, { email: null, phone: null, platformCustomerId: null }])(
    '%j is not an identity, without a word',
    (raw) => {
      expect(readIdentity(raw, null)).toEqual({ identity: null, warnings: [], faults: [] })
    },
  )

  test('every fault is reported, and none repeats what was sent', () => {
    const raw = { email: 'secret address', phone: '9'.repeat(65), platformCustomerId: `secret${'x'.repeat(255)}` }
    const { identity, faults } = readIdentity(raw, null)
    expect(identity).toBeNull()
    expect(faults.map(({ path }) => path)).toEqual(['identity.platformCustomerId', 'identity.email', 'identity.phone'])
    expect(JSON.stringify(faults)).not.toMatch(/secret|999/)
  })

  test('no value makes it throw; what is left is clean and within its limits', () => {
    const value = fc.option(fc.oneof(fc.string({ unit: 'binary', maxLength: 400 }), fc.double(), fc.maxSafeInteger()))
    const raw = fc.record({ email: fc.option(fc.string({ unit: 'binary' })), phone: value, platformCustomerId: value })
    fc.assert(
      fc.property(raw, (raw) => {
        const { identity } = readIdentity(raw, 'US')
        for (const part of [identity?.email, identity?.phone, identity?.platformCustomerId]) {
          if (part === undefined) continue
          expect(part.trim()).toBe(part)
          expect(part.length).toBeGreaterThan(0)
          expect(part.length).toBeLessThanOrEqual(320)
        }
      }),
    )
  })
})
