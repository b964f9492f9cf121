import * as fc from 'fast-check'
import { getCountries, getExampleNumber, parsePhoneNumberFromString, type PhoneNumber } from 'libphonenumber-js/max'
import examples from 'libphonenumber-js/mobile/examples'
import { expect, test } from 'vitest'
import { readPhone } from '../../src/rules/identity/read-phone.ts'
import { runs } from '../support/runs.ts'

const widen = (text: string) => text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0))

const COUNTRIES = getCountries().filter((country) => country in examples)

/** Puts spaces, or other signs that people write, between the digits. */
const spread = (digits: string, sign: string) => digits.replace(/(\d{2,3})(?=\d{2})/g, `$1${sign}`)

function spellingsOf(number: PhoneNumber): string[] {
  const digits = number.number.slice(1)
  const national = number.formatNational()
  const spellings = [
    number.number,
    number.formatInternational(),
    digits,
    ...[' ', '-', '.', '\u00A0', ' / '].map((sign) => spread(digits, sign)),
    `+${spread(digits, ' ')}`,
    // The mobile numbers of two islands have four digits, which are placeholders.
    ...(national.replace(/\D/g, '').length < 5 ? [] : [national]),
  ]
  return [...spellings, ...spellings.map(widen), widen(digits).replace(/(?=.{4}$)/, '\u3000'), `tel:${number.number}`]
}

function expectOne(country: string, number: PhoneNumber): void {
  for (const spelling of spellingsOf(number)) {
    const read = { value: number.number.slice(1), read: true }
    expect([spelling, readPhone(spelling, country)]).toEqual([spelling, read])
  }
  for (const extension of [' ext. 12', ' x12', ';ext=12', ' App. 12', '#12']) {
    const sent = number.formatInternational() + extension
    expect([sent, readPhone(sent, country)]).toEqual([sent, { value: `${number.number};ext=12`, read: false }])
  }
}

test.each(COUNTRIES)('in %s, a mobile is one number however it is written', (country) => {
  expectOne(country, getExampleNumber(country, examples)!)
})

test('any valid number is one, however it is written', () => {
  const anyNumber = fc
    .tuple(fc.constantFrom(...COUNTRIES), fc.stringMatching(/^\d{5}$/))
    .map(([country, tail]) => {
      const { number } = getExampleNumber(country, examples)!
      return { country, number: parsePhoneNumberFromString(number.slice(0, -5) + tail) }
    })
    .filter(({ number }) => number?.isValid() === true && !/^(\d)\1*$/.test(number.nationalNumber))
  fc.assert(
    fc.property(anyNumber, ({ country, number }) => expectOne(country, number!)),
    { numRuns: runs(1000) },
  )
})

test.each([
  // A Berlin number, without the + too; then a national number that would be too short with a +.
  ['4930123456', 'DE', '4930123456'],
  ['49123', 'DE', '4949123'],
  // With a + it would be a valid number of another country.
  ['33612345678', 'DE', '4933612345678'],
  ['4917612345678', 'US', '4917612345678'],
  ['4917612345678', null, '4917612345678'],
  ['+4917612345678', 'US', '4917612345678'],
  ['004917612345678', 'DE', '4917612345678'],
  ['4917612345678', 'de', '4917612345678'],
])('%s in %s is %s', (sent, country, digits) => {
  expect(readPhone(sent, country)?.value).toBe(digits)
})

test.each([
  ['4917612345678.0', 'DE', '4917612345678'],
  ['4917612345678,00', 'DE', '4917612345678'],
  ['+491512345678.000', null, '491512345678'],
  ['972541234567.0', 'IL', '972541234567'],
  ['541234567.0', 'IL', '972541234567'],
  ['\uFF19\uFF17\uFF12541234567.0', 'IL', '972541234567'],
  // A group of a number that is written with dots.
  ['030.12345.00', 'DE', '49301234500'],
  ['030123.000', 'DE', '4930123000'],
])('%s in %s is %s: an empty fraction is not part of a phone', (sent, country, value) => {
  expect(readPhone(sent, country)).toEqual({ value, read: true })
})

test.each(['(Maxx) 054-1234567', 'Maxx 054-1234567', '054-1234567 (Foxx)', '054-1234567 Xxenia'])(
  'a name is not a mask: %s',
  (sent) => {
    expect(readPhone(sent, 'IL')?.value).toBe('972541234567')
  },
)

test.each(['0541234XXX', '054-1234-xxx', 'xx-1234567', 'XXX 1234567', '+972 54 xx 4567', '(xxx) 123-4567'])(
  'digits that are masked make a placeholder: %s',
  (sent) => {
    expect(readPhone(sent, 'IL')).toBeUndefined()
  },
)
