/**
 * Each error of the server has a text in German and Hebrew. In English, some have one, and else the page
 * shows the server's own text.
 */
import { describe, expect, it } from 'vitest'
import { fillIn } from '../../src/dashboard/src/fill-in.ts'
import { texts as german } from '../../src/dashboard/src/texts/de/errors.ts'
import { texts as germanShell } from '../../src/dashboard/src/texts/de/shell.ts'
import { texts as english } from '../../src/dashboard/src/texts/en/errors.ts'
import type { ErrorTexts } from '../../src/dashboard/src/texts/error-texts.ts'
import { texts as hebrew } from '../../src/dashboard/src/texts/he/errors.ts'
import { texts as hebrewShell } from '../../src/dashboard/src/texts/he/shell.ts'
import { sayAtField } from '../../src/dashboard/src/without-path.ts'
import { ERRORS } from '../../src/errors.ts'
import { FAULTS, faultOf, moveFault } from '../../src/rules/faults.ts'

const valuesOf = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '').toSorted()

describe.each<[string, ErrorTexts, Record<string, string>]>([
  ['German', german, germanShell.errors],
  ['Hebrew', hebrew, hebrewShell.errors],
])('%s', (_, { codes, faults }, shell) => {
  it.each(Object.keys(ERRORS))('has a text for %s', (code) => {
    expect({ ...codes, ...shell }[code]).toMatch(/\S/)
  })

  it('has a text for each fault, with the same values', () => {
    expect(Object.keys(faults).toSorted()).toEqual(Object.keys(FAULTS).toSorted())
    const said = Object.entries<string>(faults).map(([code, text]) => [code, valuesOf(text)])
    expect(Object.fromEntries(said)).toEqual(
      Object.fromEntries(Object.entries(FAULTS).map(([code, text]) => [code, valuesOf(text)])),
    )
  })
})

it('says in English, where the words of the API are not for a person, only what the fault has values for', () => {
  for (const [code, text] of Object.entries(english.faults)) {
    expect(text).toMatch(/^[A-Z].*\.$/)
    expect(valuesOf(FAULTS[code as keyof typeof FAULTS])).toEqual(expect.arrayContaining(valuesOf(text)))
  }
})

it.each([
  [faultOf('pixelId', 'platform_number'), "Must be the platform's number, only digits."],
  [faultOf('from', 'required'), 'Is required.'],
  [{ path: 'variants.en.html', message: 'variants.en.html: tag "x" not found' }, 'Tag "x" not found.'],
  [{ path: 'name', message: 'Enter 1 to 256 characters.' }, 'Enter 1 to 256 characters.'],
])('says at a field, whose label names it, a sentence without the path: %j', (issue, sentence) => {
  expect(sayAtField(issue)).toBe(sentence)
})

const ISOLATED = /[\u2066-\u2068][^\u2066-\u2069]*\u2069/g
const VALUE = /\{\w+\}/g

it('isolates what is written in Latin letters in the Hebrew texts, so that it does not turn the words round', () => {
  const outside = (text: string) => text.replaceAll(ISOLATED, '').replaceAll(VALUE, '')
  const said = Object.entries<string>({ ...hebrew.codes, ...hebrew.faults })
  expect(said.filter(([, text]) => /[a-z+<>\u2066-\u2069]/i.test(outside(text)))).toEqual([])
})

it('isolates the values that are strings', () => {
  const filled = fillIn(hebrew.faults.whole_number_not, { min: 1, max: 4096, sent: '+4x' }, (value) => `<${value}>`)
  expect(filled).toContain('„\u2068+4x\u2069”')
  expect(filled.replaceAll(ISOLATED, '')).toMatch(/<1>.*<4096>/)
})

it('puts the path before the text of a fault, and numbers into it as English writes them', () => {
  expect(faultOf('tags.3', 'characters', { min: 1, max: 4096 })).toEqual({
    path: 'tags.3',
    message: 'tags.3 must be 1 to 4,096 characters',
    code: 'characters',
    values: { min: 1, max: 4096 },
  })
  expect(faultOf('', 'at_least_one', { fields: 'a, b, c' })).toMatchObject({
    message: 'at least one of a, b and c is required',
    values: { fields: 'a, b, c' },
  })
  expect(faultOf('', 'a_field')).toEqual({ path: '', message: 'at least one field is required', code: 'a_field' })
})

it('moves a fault with its message', () => {
  expect(moveFault(faultOf('tags.3', 'clean_text'), 'steps[0].addTags[3]')).toMatchObject({
    path: 'steps[0].addTags[3]',
    message: 'steps[0].addTags[3] must not hold NUL characters or lone surrogates',
  })
  expect(moveFault(faultOf('', 'currency', { sent: 'é' }), 'currency').message).toMatch(
    /^currency must be a three-letter/,
  )
})
