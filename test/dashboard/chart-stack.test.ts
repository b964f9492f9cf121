/** Stacked bars. */
import { expect, it } from 'vitest'
import { drawEach, drawStack } from '../../src/dashboard/src/parts/chart/stack.ts'

const SERIES = [
  { label: 'a', values: [1, 2, null] },
  { label: 'b', values: [3, 0, 5] },
  { label: 'c', values: [4, 1, 0], isBelow: true },
  { label: 'd', values: [1, null, 2], isBelow: true },
]

it('begins each where the one before it ends, on its own side of the axis', () => {
  expect(drawStack(SERIES)).toEqual([
    { label: 'd', values: [-5, -1, -2], place: 3 },
    { label: 'c', values: [-4, -1, 0], place: 2 },
    { label: 'b', values: [4, 2, 5], place: 1 },
    { label: 'a', values: [1, 2, 0], place: 0 },
  ])
})

it('leaves series that are not stacked as they are', () => {
  expect(drawEach(SERIES)[0]).toEqual({ label: 'a', values: [1, 2, null], place: 0 })
})
