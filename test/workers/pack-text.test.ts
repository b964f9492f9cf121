/** Long texts on the road: the same on the other side, however they travelled. */
import { Buffer } from 'node:buffer'
import { expect, it } from 'vitest'
import { packText, unpackText } from '../../src/stream/pack-text.ts'

const LONG = 16 * 1024
const text = (length: number) => JSON.stringify('é😀'.repeat(length)).slice(0, length)

it.each([LONG - 1, LONG])('packs from 16 Ki characters on: %i', (length) => {
  const packed = packText('x'.repeat(length))
  expect(typeof packed).toBe(length < LONG ? 'string' : 'object')
  expect(unpackText(Buffer.from(packed as Buffer))).toBe('x'.repeat(length))
})

it('gives back what is more than ASCII', () => {
  const long = text(LONG * 4)
  expect(unpackText(packText(long) as Buffer)).toBe(long)
})

it('takes a long text that is not packed, as doors before it sent', () => {
  expect(unpackText(Buffer.from(text(LONG * 2)))).toBe(text(LONG * 2))
})

it.each([
  Buffer.alloc(0),
  Buffer.from('{'),
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd]),
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 9, 9, 9]),
])('never throws, whatever somebody put there: %j', (bytes) => {
  expect(typeof unpackText(bytes)).toBe('string')
})
