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
  '0',
  '-1',
  'id',
  'userid',
  'user_id',
  'email',
  'distinctid',
  'distinct_id',
  'not_authenticated',
  'unauthenticated',
]

const ignored = (kind: string): string => `identity.${kind} was ignored: it is a placeholder, not an identity`
const rounded = (kind: string): string =>
  `identity.${kind} was ignored: it looks rounded by a spreadsheet, so that many people share it; format the column as text`

describe('email', () => {
  const longest = `${'a'.repeat(308)}@example.com`

  test.each([
    ['ann@example.com', 'ann@example.com'],
    ['  Ann@Example.COM\n', 'ann@example.com'],
    ['\u200B ann@example.com\uFEFF', 'ann@example.com'],
    ['an\u00ADn@exam\u2060ple.com', 'ann@example.com'],
    ['\u202Aann@example.com\u202C', 'ann@example.com'],
    ['ann@example.com\u{E0001}', 'ann@example.com'],
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
    ['00', '00'],
    [-7, '-7'],
    [-2, '-2'],
    [1, '1'],
    ["'42'", "'42'"],
    ['\u200B42\u200B \u{E0001}', '42'],
    ['4\u200D2', '4\u200D2'],
    ['12E5', '12E5'],
    ['id-7', 'id-7'],
    [5.12e12, '5120000000000'],
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
    ['+1\u00AD (212)\u200B 555-0100', 'US', '12125550100'],
    ['\u202A+12125550100\u202C', 'US', '12125550100'],
    ['030 12345-67', 'DE', '49301234567'],
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
    ['+1 (212) 555-0100 ext. 5', 'US', '+12125550100;ext=5'],
    ['+1 207-143-0512 ext. 91467', 'IL', '+12071430512;ext=91467'],
    ['+1 207-143-0512 x20815', null, '+12071430512;ext=20815'],
    ['+12071430512;ext=20815', 'DE', '+12071430512;ext=20815'],
    ['＋1 207 143 0512 ｘ２０８１５', 'US', '+12071430512;ext=20815'],
    ['(207) 143-0512 EXT:20815', 'US', '+12071430512;ext=20815'],
    ['+1-212-555-0100,12', 'US', '+12125550100;ext=12'],
    ['+49 170 1234567 App. 12', 'DE', '+491701234567;ext=12'],
    ['0170 1234567-12', 'DE', '+491701234567;ext=12'],
    ['+49 170 1234567 – 12', null, '+491701234567;ext=12'],
    ['054-123-4567 ext 5', null, '0541234567;ext=5'],
    ['054-123-4567 or 054-765-4321', 'IL', '054-123-4567 or 054-765-4321'],
    ['49A151 2345', 'DE', '49a151 2345'],
    ['12 ext 345', 'US', '12 ext 345'],
    ['054-1234567 / 054-7654321', 'IL', '05412345670547654321'],
    ['+1 212 555 0100 / +1 212 555 0101', 'US', '1212555010012125550101'],
    ['12'.repeat(32), 'US', '12'.repeat(32)],
    [1234567890123456, null, '1234567890123456'],
  ])('%j in %s cannot be read and is %s', (sent, country, phone) => {
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
    -1,
    '+1 207-XXX-0512',
    '+1207143****',
    '+1 207 ••• 0512',
  ])('%j is a placeholder', (phone) => {
    expect(readIdentity({ phone }, 'US')).toEqual({ identity: null, warnings: [ignored('phone')], faults: [] })
  })

  test.each<[string | number, string]>([
    [`+${'1'.repeat(64)}`, 'at most 64'],
    [Number.MAX_SAFE_INTEGER + 1, 'send it as a string'],
    [1e21, 'send it as a string'],
    [79161234567.5, 'whole number'],
    [-79161234567, 'whole number'],
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

  test.each(['4.47912E+11', '4,47912E+11', '+4.47912e+11', '4E11', '\u200B4.47912E+11'])(
    '%s is ignored, because a spreadsheet rounded it',
    (phone) => {
      expect(readIdentity({ phone }, 'DE')).toEqual({ identity: null, warnings: [rounded('phone')], faults: [] })
    },
  )

  test('64 characters are taken once the space around them is gone', () => {
    const phone = `+7 916 123-45-67${' '.repeat(47)}.`
    expect(phone).toHaveLength(64)
    expect(readIdentity({ phone: `  ${phone}  ` }, null).faults).toEqual([])
  })

  test('reading the outcome again changes nothing', () => {
    const phone = fc.oneof(fc.stringMatching(/^[+0-9() x-]{5,40}$/), fc.string({ unit: 'binary', maxLength: 64 }))
    fc.assert(
      fc.property(phone, fc.constantFrom(null, 'RU', 'IL', 'US', 'IT', 'XX'), (phone, country) => {
        const { identity } = readIdentity({ phone }, country)
        if (identity?.phone === undefined) return
        if (identity.phoneRead === true) expect(identity.phone).toMatch(/^\d{5,64}$/)
        else if (!identity.phone.startsWith('+') || !identity.phone.includes(';ext=')) return
        const shown = identity.phoneRead === true ? `+${identity.phone}` : identity.phone
        expect(readIdentity({ phone: shown }, country).identity).toEqual(identity)
      }),
    )
  })
})

describe('placeholders', () => {
  const kinds = ['email', 'phone', 'platformCustomerId'] as const
  const spellings = [
    ...new Set(
      PLACEHOLDERS.flatMap((word) => {
        const quoted = [`'${word}'`, `"${word}"`, `“${word}”`, `' ${word} '`, `"'${word}'"`]
        return [word, word.toUpperCase(), ` ${word} `, `\u200B${word}`, ...quoted]
      }),
    ),
  ]

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
    "'null'@'null'",
    '"undefined@undefined"',
    'user_id@email.com',
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

  test.each<[keyof RawIdentity, number]>([
    ['platformCustomerId', 0],
    ['platformCustomerId', -0],
    ['platformCustomerId', -1],
    ['phone', 0],
    ['phone', -1],
  ])('%s: the number %d is ignored with a warning', (kind, value) => {
    expect(readIdentity({ [kind]: value }, null)).toEqual({ identity: null, warnings: [ignored(kind)], faults: [] })
  })

  test.each(['5.12E+12', '5,12E+12', '1.23457e+12', '5E+12', '5.12E12'])(
    'the customer id %s is ignored, because a spreadsheet rounded it',
    (platformCustomerId) => {
      expect(readIdentity({ platformCustomerId, email: 'a@b.c' }, null)).toEqual({
        identity: { email: 'a@b.c' },
        warnings: [rounded('platformCustomerId')],
        faults: [],
      })
    },
  )

  test('a long text takes linear time', () => {
    const long = `"${' '.repeat(250_000)}x${' \u200B'.repeat(125_000)}y`
    const started = performance.now()
    readIdentity({ email: long, platformCustomerId: long, phone: long }, null)
    expect(performance.now() - started).toBeLessThan(2000)
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
