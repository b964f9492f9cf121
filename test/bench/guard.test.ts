import { expect, test } from 'vitest'
import { judge } from './guard.ts'

test('the median may be up to 40 % above the figure kept', () => {
  expect(judge([9, 2.8, 1], 2)).toMatchObject({ median: 2.8, passed: true })
  expect(judge([9, 2.801, 1], 2)).toMatchObject({ median: 2.801, passed: false })
})

test('a single bad round does not change the verdict', () => {
  expect(judge([2, 50, 2.1], 2).passed).toBe(true)
})

test('it says what to do next', () => {
  expect(judge([3], 2).advice).toContain('bun run bench --scenario saturation')
  expect(judge([1.5], 2).advice).toContain('keep the lower figure')
})
