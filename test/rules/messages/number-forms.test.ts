/** Forms of one phone number in WhatsApp (campaigns, "Channels"). */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { formsOf, readWhatsappId } from '../../../src/rules/messages/number-forms.ts'
import { runs } from '../../support/runs.ts'

it.each([
  ['525543142412', '5215543142412'],
  ['5511943142434', '551143142434'],
  ['541143142456', '5491143142456'],
])('%s and %s are one number', (one, other) => {
  expect(formsOf('whatsapp', one)).toEqual([one, other])
  expect(formsOf('whatsapp', other)).toEqual([other, one])
  expect(formsOf('sms', one)).toEqual([one])
})

it.each([
  '14155550123',
  '4915112345678',
  '972501234567',
  // One digit too few, and one too many.
  '52554314241',
  '52155431424120',
  '55114314243',
  '55119431424340',
  '54114314245',
  '54911431424560',
  // A ninth digit other than 9.
  '5511843142434',
  '5225543142412',
  '5481143142456',
  '',
  'ada@shop.example',
])('%j has one form', (address) => {
  expect(formsOf('whatsapp', address)).toEqual([address])
})

it('each form of a number has the same forms', () => {
  const digits = fc.stringMatching(/^(52|521|55|54|549|1|49)[1-9][0-9]{8,11}$/)
  fc.assert(
    fc.property(digits, (address) => {
      const forms = formsOf('whatsapp', address)
      expect(forms[0]).toBe(address)
      expect(new Set(forms).size).toBe(forms.length)
      for (const form of forms) expect(formsOf('whatsapp', form).toSorted()).toEqual(forms.toSorted())
    }),
    { numRuns: runs(2000) },
  )
})

it.each([
  ['972501234567', '972501234567'],
  ['+972501234567', '972501234567'],
  ['', null],
  ['1234', null],
  ['1'.repeat(21), null],
  ['97250 1234567', null],
  ['++972501234567', null],
  ['US.13491208655302741918', null],
  ['972501234567\n', null],
])('%j is the id %j of WhatsApp', (text, id) => {
  expect(readWhatsappId(text)).toBe(id)
})
