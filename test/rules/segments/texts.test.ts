import { describe, expect, test } from 'vitest'
import type { ContactIdentity } from '../../../src/rules/state.ts'
import { factsOf, withField } from './facts-of.ts'
import { holds } from './rule-of.ts'

const city = (text: string) => factsOf({ profile: { city: text } })
const is = (text: string, operator: string, value: unknown, ignoreCase?: boolean) =>
  holds({ attribute: 'city', operator, value, ignoreCase }, city(text))

describe('a text', () => {
  test.each([
    ['Berlin', 'equals', 'Berlin', true],
    ['Berlin', 'equals', 'berlin', false],
    ['Berlin', 'equals', 'Berlin ', false],
    ['Berlin', 'not_equals', 'Bonn', true],
    ['Berlin', 'not_equals', 'Berlin', false],
    ['Berlin', 'contains', 'erl', true],
    ['Berlin', 'contains', 'Erl', false],
    ['Berlin', 'contains', '.', false],
    ['Berlin', 'starts_with', 'Ber', true],
    ['Berlin', 'starts_with', 'er', false],
    ['Berlin', 'ends_with', 'lin', true],
    ['Berlin', 'ends_with', 'li', false],
    ['Berlin', 'in', ['Bonn', 'Berlin'], true],
    ['Berlin', 'in', ['Bonn', 'berlin'], false],
    ['%', 'contains', '%', true],
    ['_', 'equals', '%', false],
    // Texts are compared by code units: other encodings of a letter differ, and half a character counts as a part.
    ['\u00e9', 'equals', 'e\u0301', false],
    ['e\u0301', 'starts_with', 'e', true],
    ['\u00df', 'equals', 'ss', false],
  ])('%j %s %j is %s', (text, operator, value, answer) => {
    expect(is(text, operator, value)).toBe(answer)
  })

  test.each([
    ['BERLIN', 'equals', 'berlin', true],
    ['berlin', 'equals', 'BERLIN', true],
    ['BERLIN', 'not_equals', 'berlin', false],
    ['BERLIN', 'contains', 'rlI', true],
    ['BERLIN', 'starts_with', 'bE', true],
    ['BERLIN', 'ends_with', 'iN', true],
    ['BERLIN', 'in', ['bonn', 'berlin'], true],
    ['KÖLN', 'equals', 'köln', false],
    ['KÖLN', 'equals', 'kÖln', true],
    // In Unicode, the Kelvin sign, the long s and the dotless i become ASCII letters.
    ['\u212a', 'equals', 'k', false],
    ['\u017f', 'equals', 'S', false],
    ['\u0131', 'equals', 'I', false],
    ['[', 'equals', '{', false],
    ['@', 'equals', '`', false],
  ])('ignoring case, %j %s %j is %s', (text, operator, value, answer) => {
    expect(is(text, operator, value, true)).toBe(answer)
  })

  test('that is missing is in no answer but not_exists', () => {
    for (const [operator, value] of [
      ['equals', 'a'],
      ['not_equals', 'a'],
      ['contains', 'a'],
      ['starts_with', 'a'],
      ['ends_with', 'a'],
      ['in', ['a']],
      ['exists', undefined],
    ])
      expect(holds({ attribute: 'city', operator, value }, factsOf())).toBe(false)
    expect(holds({ attribute: 'city', operator: 'not_exists' }, factsOf())).toBe(true)
    expect(holds({ attribute: 'city', operator: 'not_exists' }, city('a'))).toBe(false)
    expect(holds({ attribute: 'city', operator: 'exists' }, city('a'))).toBe(true)
  })

  test.each(['firstName', 'lastName', 'country', 'city', 'language', 'timezone'])(
    'is read from %s alone',
    (attribute) => {
      const rule = { attribute, operator: 'equals', value: 'x' }
      const others = { firstName: 'y', lastName: 'y', country: 'y', city: 'y', language: 'y', timezone: 'y' }
      expect(holds(rule, factsOf({ profile: { ...others, [attribute]: 'x' } }))).toBe(true)
      expect(holds(rule, factsOf({ profile: others }))).toBe(false)
    },
  )

  test.each(['plain', 'quo"ted', 'back\\slash', 'new\nline', '\u0001', '😀', '__proto__', ''])(
    'in a custom field may be %j',
    (text) => {
      const fields = { field: 'Text' } as const
      const facts = withField(text)
      expect(holds({ customField: 'field', operator: 'exists' }, facts, 0, { fields })).toBe(true)
      expect(holds({ customField: 'field', operator: 'not_equals', value: `${text}!` }, facts, 0, { fields })).toBe(
        true,
      )
      if (text !== '')
        expect(holds({ customField: 'field', operator: 'equals', value: text }, facts, 0, { fields })).toBe(true)
    },
  )
})

describe('texts of many', () => {
  const emails = (...values: string[]) => people('email', values)
  const people = (kind: ContactIdentity['kind'], values: string[]) =>
    factsOf({ identities: values.map((value) => ({ kind, value, proven: true })) })
  const email = (operator: string, value?: unknown) => ({ attribute: 'email', operator, value })

  test('fit when any fits; not_equals when none is equal', () => {
    const facts = emails('ann@a.example', 'bob@b.example')
    expect(holds(email('equals', 'bob@b.example'), facts)).toBe(true)
    expect(holds(email('not_equals', 'bob@b.example'), facts)).toBe(false)
    expect(holds(email('not_equals', 'kim@b.example'), facts)).toBe(true)
    expect(holds(email('in', ['x@y.example', 'ann@a.example']), facts)).toBe(true)
    expect(holds(email('starts_with', 'bob'), facts)).toBe(true)
    expect(holds(email('ends_with', '@a.example'), facts)).toBe(true)
    expect(holds(email('contains', 'c.example'), facts)).toBe(false)
  })

  test('none of the kind is undefined', () => {
    const phone = people('phone', ['4917612345678'])
    for (const rule of [email('equals', 'a@b.example'), email('not_equals', 'a@b.example'), email('exists')])
      expect(holds(rule, phone)).toBe(false)
    expect(holds(email('not_exists'), phone)).toBe(true)
    expect(holds(email('not_exists'), emails('a@b.example'))).toBe(false)
  })

  test('emails are compared in small letters, trimmed where they are whole', () => {
    const facts = emails('ann@a.example')
    expect(holds(email('equals', ' Ann@A.Example '), facts)).toBe(true)
    expect(holds(email('not_equals', 'ANN@a.example'), facts)).toBe(false)
    expect(holds(email('in', ['ANN@A.EXAMPLE']), facts)).toBe(true)
    expect(holds(email('contains', 'ANN@'), facts)).toBe(true)
    expect(holds(email('ends_with', '.Example'), facts)).toBe(true)
  })

  test("phones are compared by their digits, national ones read with the business's country", () => {
    const facts = people('phone', ['4917612345678'])
    const phone = (operator: string, value: unknown, country: string | null = 'DE') =>
      holds({ attribute: 'phone', operator, value }, facts, 0, { country })
    expect(phone('equals', '0176 1234 5678')).toBe(true)
    expect(phone('equals', '+49 (176) 12345678', null)).toBe(true)
    expect(phone('equals', '0176 1234 5678', null)).toBe(false)
    expect(phone('equals', '0176 1234 5678', 'US')).toBe(false)
    expect(phone('in', ['+1 312 555 0100', '017612345678'])).toBe(true)
    expect(phone('starts_with', '+49')).toBe(true)
    expect(phone('starts_with', '49 176')).toBe(true)
    expect(phone('ends_with', '678')).toBe(true)
    expect(phone('contains', 'x')).toBe(false)
    expect(phone('equals', '123')).toBe(false)
  })

  test('customer ids keep their letter case', () => {
    const facts = people('platformCustomerId', ['ABC-1'])
    const id = (operator: string, value: unknown, ignoreCase?: boolean) =>
      holds({ attribute: 'platformCustomerId', operator, value, ignoreCase }, facts)
    expect(id('equals', ' ABC-1 ')).toBe(true)
    expect(id('equals', 'abc-1')).toBe(false)
    expect(id('equals', 'abc-1', true)).toBe(true)
    expect(id('starts_with', 'ABC')).toBe(true)
    expect(id('starts_with', 'abc')).toBe(false)
  })

  test('a value that no identity can have fits none', () => {
    expect(holds(email('equals', 'not an email'), emails('ann@a.example'))).toBe(false)
    expect(holds(email('not_equals', 'unknown'), emails('ann@a.example'))).toBe(true)
  })
})
