/** When the overload ends. */
import { expect, test } from 'vitest'
import type { LoadResult, Traced } from './generator/plan.ts'
import { recoverySeconds } from './scenarios/overload.ts'

const END = 10_000
const crowd = { startedAt: 4000, seconds: 6 } as LoadResult

/** Ten requests per second, all served well except these: [ms after the end, ms until the response, status]. */
function probed(...bad: [after: number, took: number, status: number][]): LoadResult {
  const served = Array.from({ length: 50 }, (_, n): Traced => [n, END + n * 100, 5, 200])
  const others = bad.map(([after, took, status], n): Traced => [100 + n, END + after, took, status])
  return { trace: [...served, ...others] } as LoadResult
}

test('takes no time when all are served well after the load', () => {
  expect(recoverySeconds(crowd, probed())).toBe(0)
  expect(recoverySeconds(crowd, probed([-1, 3000, 503]))).toBe(0)
})

test('ends with the last second in which more than one in ten was not served well', () => {
  const slow = (after: number): [number, number, number] => [after, 101, 200]
  expect(recoverySeconds(crowd, probed(slow(3000), slow(3500)))).toBe(4)
  expect(recoverySeconds(crowd, probed([3000, 5, 503], [3500, 5, 503], slow(1000), slow(1001)))).toBe(4)
})

test('a single stall, and an answer within the limit, do not count as an overload', () => {
  expect(recoverySeconds(crowd, probed([3000, 400, 200]))).toBe(0)
  expect(recoverySeconds(crowd, probed([3000, 100, 200], [3001, 100, 200]))).toBe(0)
})
