/** Tests when a soak reports growth. */
import { expect, it } from 'vitest'
import { findTrends } from './find-trends.ts'
import type { Figures } from './soak/read-figures.ts'

const growing = (values: number[], name = 'redis MiB') =>
  findTrends(values.map((value) => ({ [name]: value }))).map(({ isGrowing }) => isGrowing)

it('reports what keeps growing', () => {
  expect(growing([100, 200, 300, 400, 500, 600, 700, 800, 900])).toEqual([true])
  expect(growing([10, 20, 30, 40, 50, 60, 70, 80, 90], 'redis files')).toEqual([true])
})

it('ignores what warms up, varies, is restarted, or was there once', () => {
  expect(growing([50, 300, 700, 800, 790, 810, 805, 795, 800])).toEqual([false])
  expect(growing([400, 90, 500, 100, 480, 110, 470, 95, 500, 90, 490, 100])).toEqual([false])
  expect(growing([100, 100, 100, 100, 900, 100, 100, 100, 100])).toEqual([false])
})

it('says nothing before it has seen enough', () => {
  expect(growing([100, 200, 400, 800, 1600, 3200, 6400, 12_800])).toEqual([false])
  expect(findTrends([{ 'redis MiB': 7 }])).toEqual([
    { name: 'redis MiB', before: 7, after: 7, most: 7, isGrowing: false },
  ])
})

it('takes a missing figure for none', () => {
  const readings = Array.from({ length: 9 }, (_, at): Figures => (at < 6 ? { a: 1 } : { a: 1, b: 500 }))
  expect(findTrends(readings)[1]).toMatchObject({ name: 'b', before: 0, after: 500, isGrowing: true })
})
