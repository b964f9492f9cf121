/** Tokens of links in messages: they consist of ids, and are made and read with only the key. */
import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inertLinks, linksOf, unsubscribeHeaders } from '../../../src/messages/public-links.ts'
import { MESSAGE_CHANNELS } from '../../../src/messages/templates/template.ts'
import { type Subscriber, readToken, writeToken } from '../../../src/messages/unsubscribe/token.ts'
import { runs } from '../../support/runs.ts'

const key = randomBytes(32)
const subscriber: fc.Arbitrary<Subscriber> = fc.record({
  businessId: fc.uuid(),
  contactId: fc.uuid(),
  channel: fc.constantFrom(...MESSAGE_CHANNELS),
})
const ANN: Subscriber = {
  businessId: '0198c5a0-a3f4-7d10-9e21-6c4b8f0a2d36',
  contactId: '0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11',
  channel: 'email',
}

describe('a token', () => {
  it('is read as what it was written for, and is always the same', () => {
    fc.assert(
      fc.property(subscriber, (one) => {
        const token = writeToken(key, one)
        expect(token).toMatch(/^[\w-]{68}$/)
        expect(writeToken(key, one)).toBe(token)
        expect(readToken(key, token)).toEqual(one)
      }),
      { numRuns: runs(2000) },
    )
  })

  it('is another one for another business, contact, channel or key', () => {
    fc.assert(
      fc.property(subscriber, subscriber, fc.uint8Array({ minLength: 32, maxLength: 32 }), (one, other, bytes) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other)
        expect(writeToken(key, one) === writeToken(key, other)).toBe(isSame)
        expect(readToken(Buffer.from(bytes), writeToken(key, one))).toBeNull()
      }),
      { numRuns: runs(2000) },
    )
  })

  it('is none when any character of it is changed, taken away or added', () => {
    const character = fc.constantFrom(...Array.from('ABCXYZabcxyz019-_=+/ .'))
    fc.assert(
      fc.property(subscriber, fc.nat(67), character, (one, at, put) => {
        const token = writeToken(key, one)
        const [before, after] = [token.slice(0, at), token.slice(at + 1)]
        if (put !== token[at]) expect(readToken(key, before + put + after)).toBeNull()
        expect(readToken(key, before + after)).toBeNull()
        expect(readToken(key, before + put + token.slice(at))).toBeNull()
        expect(readToken(key, token + put)).toBeNull()
      }),
      { numRuns: runs(3000) },
    )
  })

  it('is none when the parts of two are put together', () => {
    fc.assert(
      fc.property(subscriber, subscriber, fc.integer({ min: 1, max: 67 }), (one, other, at) => {
        const [a, b] = [writeToken(key, one), writeToken(key, other)]
        const mixed = a.slice(0, at) + b.slice(at)
        if (mixed !== a && mixed !== b) expect(readToken(key, mixed)).toBeNull()
      }),
      { numRuns: runs(2000) },
    )
  })

  it('reads no other text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.uint8Array({ minLength: 51, maxLength: 51 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
        ),
        (text) => {
          expect(readToken(key, text)).toBeNull()
        },
      ),
      { numRuns: runs(2000) },
    )
  })
})

describe('links', () => {
  it('begin with the public address and carry the token', () => {
    const token = writeToken(key, ANN)
    expect(linksOf('https://mail.example.com', key, ANN)).toEqual({
      unsubscribeUrl: `https://mail.example.com/u/${token}`,
      preferencesUrl: `https://mail.example.com/u/${token}#preferences`,
    })
    expect(inertLinks({ publicUrl: 'https://mail.example.com/', port: 1 }).unsubscribeUrl).toBe(
      'https://mail.example.com/u/preview',
    )
    expect(inertLinks({ publicUrl: undefined, port: 8080 }).unsubscribeUrl).toBe('http://127.0.0.1:8080/u/preview')
  })

  it('have headers for mail programs: one click over HTTPS alone', () => {
    const links = linksOf('https://mail.example.com', key, ANN)
    expect(unsubscribeHeaders(links)).toEqual({
      'List-Unsubscribe': `<${links.unsubscribeUrl}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    })
    const plain = linksOf('http://127.0.0.1:8080', key, ANN)
    expect(unsubscribeHeaders(plain)).toEqual({ 'List-Unsubscribe': `<${plain.unsubscribeUrl}>` })
  })
})
