/** Long texts in streams are read exactly as they were written, packed or not. */
import { Buffer } from 'node:buffer'
import { expect, it } from 'vitest'
import { packText, unpackText } from '../../src/stream/pack-text.ts'

const KIB = 1024
const text = (length: number) => 'é"x"'.repeat(length).slice(0, length)
const noise = (length: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(length))).toString('base64')

it.each([
  ['just below 16 Ki characters', 16 * KIB - 1, false],
  ['16 Ki characters', 16 * KIB, true],
  ['more than its sample', 200 * KIB, true],
])('packs what is long: %s', (_, length, isPacked) => {
  const packed = packText(text(length))
  expect(packed !== undefined).toBe(isPacked)
  if (packed) expect(unpackText(packed)).toBe(text(length))
})

it.each([24 * KIB, 60 * KIB])('leaves noise as it is: %i bytes', (length) => {
  expect(packText(noise(length))).toBeUndefined()
})

it('takes a long text that is not packed', () => {
  expect(unpackText(Buffer.from(text(32 * KIB)))).toBe(text(32 * KIB))
})

it.each([[], [0x7b], [0x28, 0xb5, 0x2f, 0xfd], [0x28, 0xb5, 0x2f, 0xfd, 9, 9, 9]])(
  'never throws, whatever was put there: %j',
  (...bytes) => {
    expect(typeof unpackText(Buffer.from(bytes))).toBe('string')
  },
)
