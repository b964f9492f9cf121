/** Addresses in lists of other products (campaigns, "Channels"). */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findAddresses, isHeader, readListed } from '../../../src/rules/messages/listed-address.ts'
import { readAddress } from '../../../src/rules/messages/mailbox.ts'
import { runs } from '../../support/runs.ts'

const email = (text: string) => readListed('email', text, null).map(({ address }) => address)
const phone = (text: string, country: string | null = 'IL') =>
  readListed('sms', text, country).map(({ address }) => address)

describe('an email address', () => {
  it.each([
    'gone@shop.example',
    ' Gone@Shop.example\t',
    'gone@shop.example,HardBounce,Recipient,2024-01-15T10:00:00Z',
    'gone@shop.example;hard',
    '"gone@shop.example"',
    "'gone@shop.example'",
    'gone@shop.example,',
    '<gone@shop.example>',
    'mailto:gone@shop.example',
    'mailto:gone@shop.example?subject=unsubscribe',
    'Gone Person <gone@shop.example>',
    '"2024-01-15","gone@shop.example","5.1.1"',
    '1\tgone@shop.example\tbounce',
    'gone@shop.example,gone@shop.example',
    '\uFEFFgone@shop.example',
    '{"email":"gone@shop.example"}',
  ])('is found in %j', (text) => {
    expect(email(text)).toEqual(['gone@shop.example'])
  })

  it.each([
    '',
    'email,reason,date',
    'gone',
    'gone@',
    '@shop.example',
    'gone@shop..example',
    'gone@@shop.example',
    '"two words"@shop.example',
    `${'a'.repeat(65)}@shop.example`,
    // Which of them?
    'gone@shop.example,hello@shop.example',
    '<0100@mail.example>,gone@shop.example',
  ])('is not found in %j', (text) => {
    expect(email(text)).toEqual([])
  })

  it('that is found could be mailed', () => {
    const part = fc.constantFrom(
      'gone',
      '@',
      '.',
      'shop.example',
      ',',
      ';',
      '"',
      '<',
      '>',
      'mailto:',
      ' ',
      'ä',
      "'",
      '(',
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        for (const address of email(parts.join(''))) expect([address, readAddress(address)]).toEqual([address, address])
      }),
      { numRuns: runs(5000) },
    )
  })
})

describe('a phone number', () => {
  it.each([
    '+972 54-123-4567',
    '054-1234567',
    '"+972541234567"',
    '+972541234567,STOP,2024-01-15T10:00:00Z',
    '+972541234567;stop',
    'tel:+972541234567',
    '17,1705312800,+972541234567,2024-01-15',
    "'+972541234567",
    '2024-01-15,0541234567',
    '<+972541234567>',
    'gone@shop.example,+972541234567',
    '1712345678;00972541234567',
    'Ada;(054) 123-4567;1712345678',
    '"541234567"',
    '541234567,',
  ])('is found in %j', (text) => {
    expect(phone(text)).toEqual(['972541234567'])
  })

  it.each(['', 'phone,reason', '12', 'gone@shop.example', '+972541234567,+972541234568', '2024-01-15,15.01.2024'])(
    'is not found in %j',
    (text) => {
      expect(phone(text)).toEqual([])
    },
  )

  it.each([
    'Ada;1712345678;2024-05-01',
    '1712345678;stop',
    '17123456789,Ada',
    'Ada,0.1712345678',
    'Ada,0001712345678',
    'Ada,4917123456789',
  ])('is not found in %j, where the digits may be an ID or an instant', (text) => {
    expect(phone(text, 'DE')).toEqual([])
  })

  it('needs no prefix when it is alone', () => {
    expect(['1712345678', '"1712345678",'].map((text) => phone(text, 'DE'))).toEqual([
      ['491712345678'],
      ['491712345678'],
    ])
  })

  it('may be an id of WhatsApp, which has no plus', () => {
    const found = (text: string, country: string | null) =>
      readListed('whatsapp', text, country).map(({ address }) => address)
    expect(found('5215543142412', 'US')).toEqual(['525543142412'])
    expect(found('"5215543142412"', null)).toEqual(['525543142412'])
    expect(found('5215543142412,stop', null)).toEqual([])
    // In Germany, it may also be a number without its zero.
    expect(found('43660123456', 'DE')).toEqual(['4943660123456', '43660123456'])
    expect(found('4915112345678', 'DE')).toEqual(['4915112345678'])
    expect(found('0541234567', 'IL')).toEqual(['972541234567'])
    expect(readListed('sms', '43660123456', 'DE')).toHaveLength(1)
  })
})

it('without a channel, a text with an @ is an email address, and another is for both other channels', () => {
  const kinds = (text: string) => findAddresses(text, null, 'IL').map(({ channel }) => channel)
  expect(kinds('gone@shop.example,+972541234567')).toEqual(['email'])
  expect(kinds('0541234567')).toEqual(['sms', 'whatsapp'])
  expect(kinds('nobody')).toEqual([])
})

describe('the first line of a list', () => {
  it.each(['email', 'Email Address', 'address', '\uFEFFEmail,Type,Source', '"E-mail"', 'Téléphone;Motif', 'כתובת'])(
    'is a header: %j',
    (line) => {
      expect(isHeader(line)).toBe(true)
      expect(findAddresses(line, null, 'IL')).toEqual([])
    },
  )

  it.each(['gone@shop.example', 'gone＠shop.example', '@', '0541234567', 'tel 12', '٠٥٤١٢٣٤٥٦٧', '--', ''])(
    'is not a header: %j',
    (line) => {
      expect(isHeader(line)).toBe(false)
    },
  )
})
