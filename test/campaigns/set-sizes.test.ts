import { expect, it } from 'vitest'
import { createSetSizes } from '../../src/campaigns/engine/set-sizes.ts'

it('are halved down to one, each branch for itself', () => {
  const sizes = createSetSizes(5)
  const seen = [1, 2, 3, 4].map(() => [sizes.of('a'), sizes.tookTooLong('a')])
  expect(seen).toEqual([
    [5, true],
    [3, true],
    [2, true],
    [1, false],
  ])
  expect([sizes.of('a'), sizes.of('b')]).toEqual([1, 5])
})

it('are doubled while a set takes a quarter of its time at most, and never exceed the most', () => {
  const sizes = createSetSizes(500)
  for (let n = 0; n < 3; n += 1) sizes.tookTooLong('a')
  expect(sizes.of('a')).toBe(63)
  sizes.answered('a', 0.26)
  expect(sizes.of('a')).toBe(63)
  const grown = [1, 2, 3, 4].map(() => {
    sizes.answered('a', 0.25)
    return sizes.of('a')
  })
  expect(grown).toEqual([126, 252, 500, 500])
})
