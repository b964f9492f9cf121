/** Packing the events of an outbox row: the same lines come out, packed or not. */
import { expect, it } from 'vitest'
import { linesOf, unpackEvents, writeLines } from '../../src/outbox/pack-events.ts'

const KIB = 1024
const line = (length: number) => 'x'.repeat(length)
const isPacked = (lines: string[]) => writeLines(lines).startsWith('zstd:')

it.each([
  ['none', [], false],
  ['one below 16 Ki characters', [line(16 * KIB - 1)], false],
  ['one at 16 Ki characters', [line(16 * KIB)], true],
  ['many that are as long together', Array.from({ length: 128 }, () => line(128)), true],
  ['many that are short together', Array.from({ length: 100 }, () => line(128)), false],
])('packs what is long: %s', (_, lines, packed) => {
  expect(isPacked(lines)).toBe(packed)
  expect(linesOf(writeLines(lines))).toEqual(lines)
  expect(unpackEvents(writeLines(lines))).toBe(lines.join('\n'))
})

it('returns the bytes of what it packed, and gives back what is more than ASCII', () => {
  const lines = [JSON.stringify({ text: 'é😀'.repeat(20_000) }), JSON.stringify({ text: line(9) })]
  const events = writeLines(lines)
  expect(events.split(':')[1]).toBe(String(Buffer.byteLength(lines.join('\n'))))
  expect(linesOf(events)).toEqual(lines)
})
