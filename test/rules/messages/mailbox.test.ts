import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { readAddress, readMailbox } from '../../../src/rules/messages/mailbox.ts'

describe('an address', () => {
  it.each([
    'ada@example.com',
    'ada.lovelace+news@mail.example.co.uk',
    "o'hara@example.com",
    'ada@localhost',
    'ada@bücher.example',
    'ада@example.com',
    'a@b',
  ])('is %s', (text) => expect(readAddress(` ${text} `)).toBe(text))
  it.each([
    '',
    '@',
    'ada',
    'ada@',
    '@example.com',
    'a b@example.com',
    'a@b@c',
    'a@x.io,b@x.io',
    'a@x.io;',
    '<a@x.io>',
    '"a"@x.io',
    'a\\b@x.io',
    'a@[127.0.0.1]',
    'a@x..io',
    'a@.io',
    'a@-x.io',
    '.a@x.io',
    'a.@x.io',
    'a..b@x.io',
    'a@x.io\r\nBcc: b@x.io',
    'a\0@x.io',
    'a\u200b@x.io',
    'a@x_y.io',
  ])('is not %j', (text) => expect(readAddress(text)).toBeNull())
  it('has at most 64 bytes before the @, 63 in a label and 254 in all', () => {
    const local = (bytes: number) => readAddress(`${'a'.repeat(bytes)}@x.io`)
    expect([local(64) !== null, local(65)]).toEqual([true, null])
    const label = (bytes: number) => readAddress(`a@${'b'.repeat(bytes)}.io`)
    expect([label(63) !== null, label(64)]).toEqual([true, null])
    expect([readAddress(`${'ö'.repeat(32)}@x.io`) !== null, readAddress(`${'ö'.repeat(33)}@x.io`)]).toEqual([
      true,
      null,
    ])
    const long = `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`
    expect([readAddress(long) !== null, readAddress(`${long}e`)]).toEqual([true, null])
  })
})

describe('a mailbox', () => {
  test.each([
    ['hello@shop.example', { name: '', address: 'hello@shop.example' }],
    ['Shop <hello@shop.example>', { name: 'Shop', address: 'hello@shop.example' }],
    [' "Shop, Inc." <hello@shop.example> ', { name: 'Shop, Inc.', address: 'hello@shop.example' }],
    ['<hello@shop.example>', { name: '', address: 'hello@shop.example' }],
  ])('%s', (text, mailbox) => expect(readMailbox(text)).toEqual(mailbox))
  test.each([
    'Shop',
    'Shop hello@shop.example',
    'a <b@x.io> <c@x.io>',
    'a\r\nBcc: x <b@x.io>',
    'a <b@x.io>, c <d@x.io>',
    'a\\ <b@x.io>',
    `${'n'.repeat(201)} <b@x.io>`,
  ])('not %j', (text) => expect(readMailbox(text)).toBeNull())
})

test('whatever is read is one line with one address', () => {
  const piece = fc.oneof(
    fc.constantFrom('\0', '\u0085', '\u2028', '\u200b', '\uD800', 'é', '字'),
    fc.constantFrom('@', 'a', '.io', '<', '>', '\r\n', ',', '"', ' ', ';', '\\'),
  )
  const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(
      fc.oneof(
        text,
        text.map((one) => `a${one}@x.io`),
        text.map((one) => `${one} <a@x.io>`),
      ),
      (given) => {
        const mailbox = readMailbox(given)
        if (mailbox === null) return
        expect(mailbox.address).toMatch(/^[^\s<>,;:"()\\[\]@]+@[^\s<>,;:"()\\[\]@]+$/)
        expect(mailbox.name).not.toMatch(/[\r\n<>"\\\0]/)
        expect(readAddress(mailbox.address)).toBe(mailbox.address)
      },
    ),
  )
})
