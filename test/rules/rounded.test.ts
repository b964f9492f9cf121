import { expect, test } from 'vitest'
import { looksRounded, looksRoundedPhone } from '../../src/rules/identity/rounded.ts'

const widen = (text: string) => text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0))

test.each(['4.47912E+11', '4,47912E+11', '4.47912e+11', '4.47912E11', '5E+12', '-1.5E+7', '1.00123E+15'])(
  '%s looks rounded, also within spaces and in full width',
  (text) => {
    for (const spelling of [text, ` ${text}\u00A0`, `\u200B${text}`, widen(text)]) {
      expect([spelling, looksRounded(spelling)]).toEqual([spelling, true])
      expect([spelling, looksRoundedPhone(spelling)]).toEqual([spelling, true])
    }
  },
)

test.each(['12E5', '1e10', '447912345678', '42.0', '1.5', 'E+5', '1.5E+', 'A1.5E+3', '1.5E+3-2', ''])(
  '%j can be an id or a key',
  (text) => {
    expect(looksRounded(text)).toBe(false)
  },
)

test.each(['4E11', '1e10', '4.4E-3'])('the phone %s looks rounded', (text) => {
  expect(looksRoundedPhone(text)).toBe(true)
})

test.each([
  '+491512345678',
  '030.123456',
  '030.12345.00',
  '491512345678.0',
  '491512345678,00',
  '491512345678.5',
  '0151 2345678',
])('the phone %s does not look rounded', (text) => {
  expect(looksRoundedPhone(text)).toBe(false)
})
