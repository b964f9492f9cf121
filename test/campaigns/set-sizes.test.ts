import { expect, it } from 'vitest'
import { createSetSizes } from '../../src/campaigns/engine/branches/set-sizes.ts'

it('are halved down to one, each branch for itself', () => {
  const sizes = createSetSizes(5)
  const seen = [1, 2, 3, 4].map(() => [sizes.of('a'), sizes.failed('a', sizes.of('a'))])
  expect(seen).toEqual([
    [5, true],
    [3, true],
    [2, true],
    [1, false],
  ])
  expect([sizes.of('a'), sizes.of('b')]).toEqual([1, 5])
})

it('are half of what failed, when that was fewer', () => {
  const sizes = createSetSizes(500)
  expect([sizes.failed('a', 4), sizes.of('a')]).toEqual([true, 2])
  expect([sizes.failed('b', 1), sizes.of('b')]).toEqual([false, 500])
})

it('are doubled while a full set takes a quarter of its time at most, and never exceed the most', () => {
  const sizes = createSetSizes(500)
  for (let n = 0; n < 3; n += 1) sizes.failed('a', sizes.of('a'))
  expect(sizes.of('a')).toBe(63)
  sizes.answered('a', { many: 63, share: 0.26 })
  sizes.answered('a', { many: 62, share: 0.01 })
  expect(sizes.of('a')).toBe(63)
  const grown = [1, 2, 3, 4].map(() => {
    sizes.answered('a', { many: sizes.of('a'), share: 0.25 })
    return sizes.of('a')
  })
  expect(grown).toEqual([126, 252, 500, 500])
})
