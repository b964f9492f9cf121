import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { nameDistance } from '../../src/rules/events/name-distance.ts'

test.each([
  ['occurredat', 'occurredat', 0],
  ['occuredat', 'occurredat', 1],
  ['ocuredat', 'occurredat', 2],
  ['ocuredt', 'occurredat', Infinity],
  ['emial', 'email', 1],
  ['phnoe', 'phone', 1],
  ['emailaddress', 'email', Infinity],
  ['abcde', 'edcba', Infinity],
  ['', 'ab', 2],
  ['', 'abc', Infinity],
])('%s and %s differ by %s', (a, b, distance) => {
  expect(nameDistance(a, b, 2)).toBe(distance)
})

/** Returns all names that differ by one change. */
function changesOf(name: string): string[] {
  const at = Array.from({ length: name.length + 1 }, (_, index) => [name.slice(0, index), name.slice(index)] as const)
  return at.flatMap(([head, tail]) => [
    `${head}x${tail}`,
    ...(tail === '' ? [] : [head + tail.slice(1), `${head}x${tail.slice(1)}`]),
    ...(tail.length < 2 ? [] : [head + tail[1]! + tail[0]! + tail.slice(2)]),
  ])
}

test('is the same both ways; one change is one at most, and two are two at most', () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'x'), maxLength: 8 })
  fc.assert(
    fc.property(name, name, (a, b) => {
      expect(nameDistance(a, b, 2)).toBe(nameDistance(b, a, 2))
      expect(nameDistance(a, b, 2) === 0).toBe(a === b)
    }),
  )
  for (const once of changesOf('value')) {
    expect([once, nameDistance('value', once, 2) <= 1]).toEqual([once, true])
    for (const twice of changesOf(once)) {
      // The restriction of this alignment: swapped letters may not be changed again.
      const distance = nameDistance('value', twice, 3)
      expect([once, twice, distance <= 3]).toEqual([once, twice, true])
    }
  }
})
