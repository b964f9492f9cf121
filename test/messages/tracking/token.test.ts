/** Tokens of tracked addresses: they contain the target of a link, and are made and read with only the key. */
import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type TrackedLink,
  readLinkToken,
  readOpenToken,
  writeLinkToken,
  writeOpenToken,
} from '../../../src/messages/tracking/token.ts'
import { runs } from '../../support/runs.ts'

const key = randomBytes(32)
const link: fc.Arbitrary<TrackedLink> = fc.record({
  businessId: fc.uuid(),
  messageId: fc.uuid(),
  target: fc.webUrl({ withQueryParameters: true, withFragments: true }).map((url) => new URL(url).href),
})
const ANN: TrackedLink = {
  businessId: '0198c5a0-a3f4-7d10-9e21-6c4b8f0a2d36',
  messageId: '0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11',
  target: 'https://shop.example/sale?a=1&b=2#top',
}
const { target: _target, ...MESSAGE } = ANN

describe('a token', () => {
  it('is read as what it was written for, and is always the same', () => {
    fc.assert(
      fc.property(link, (one) => {
        const token = writeLinkToken(key, one)
        expect(token).toMatch(/^[\w-]+$/)
        expect(writeLinkToken(key, one)).toBe(token)
        expect(readLinkToken(key, token)).toEqual(one)
        const { target: _, ...message } = one
        expect(readOpenToken(key, writeOpenToken(key, message))).toEqual(message)
      }),
      { numRuns: runs(1000) },
    )
  })

  it('is none when any character of it is changed, taken away or added', () => {
    const character = fc.constantFrom(...Array.from('ABCXYZabcxyz019-_=+/ .'))
    fc.assert(
      fc.property(link, fc.nat(), character, fc.boolean(), (one, somewhere, put, isOpen) => {
        const token = isOpen ? writeOpenToken(key, one) : writeLinkToken(key, one)
        const read = (text: string) => (isOpen ? readOpenToken(key, text) : readLinkToken(key, text))
        const at = somewhere % token.length
        const [before, after] = [token.slice(0, at), token.slice(at + 1)]
        if (put !== token[at]) expect(read(before + put + after)).toBeNull()
        expect(read(before + after)).toBeNull()
        expect(read(before + put + token.slice(at))).toBeNull()
        expect(read(token + put)).toBeNull()
      }),
      { numRuns: runs(2000) },
    )
  })

  it('is not valid for the other purpose, nor with another key', () => {
    expect(readOpenToken(key, writeLinkToken(key, ANN))).toBeNull()
    expect(readLinkToken(key, writeOpenToken(key, MESSAGE))).toBeNull()
    expect(readLinkToken(randomBytes(32), writeLinkToken(key, ANN))).toBeNull()
    expect(readOpenToken(randomBytes(32), writeOpenToken(key, MESSAGE))).toBeNull()
  })

  it('reads no other text', () => {
    const bytes = fc.uint8Array({ minLength: 40, maxLength: 90 }).map((one) => Buffer.from(one).toString('base64url'))
    fc.assert(
      fc.property(fc.oneof(fc.string(), bytes), (text) => {
        expect(readLinkToken(key, text)).toBeNull()
        expect(readOpenToken(key, text)).toBeNull()
      }),
      { numRuns: runs(1000) },
    )
  })
})
