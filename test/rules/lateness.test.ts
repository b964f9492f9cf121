import fc from 'fast-check'
import { expect, it } from 'vitest'
import { IN_A_ROW, IN_TIME, type Lateness, judgeLateness } from '../../src/rules/lateness.ts'

const LIMITS = { lateMs: 500, inTimeMs: 200 }
/** `times`: how long each answer took, measured at the times 1, 2, 3 … */
const judge = (times: (number | null)[]): Lateness =>
  times.reduce<Lateness>((before, ms, at) => judgeLateness(before, ms, at + 1, LIMITS), IN_TIME)
const sinceAfter = (...times: (number | null)[]) => judge(times).since

it('a store is late after three late answers in a row, since the first of them', () => {
  expect(sinceAfter(501, 501)).toBeNull()
  expect(sinceAfter(1, 501, 501, 501)).toBe(2)
  expect(sinceAfter(501, 501, 500, 501, 501)).toBeNull()
  expect(sinceAfter(500, 500, 500, 500)).toBeNull()
})

it('it stays late until three answers in a row are well below the limit', () => {
  const late = [501, 501, 501]
  expect(sinceAfter(...late, 200, 200)).toBe(1)
  expect(sinceAfter(...late, 200, 200, 200)).toBeNull()
  expect(sinceAfter(...late, 200, 201, 200, 200)).toBe(1)
  expect(sinceAfter(...late, 201, 201, 201, 201)).toBe(1)
})

it('it is late at once without an answer for longer than seven seconds', () => {
  expect(sinceAfter(1, 7000)).toBeNull()
  expect(sinceAfter(1, 7001)).toBe(2)
  expect(sinceAfter(501, 7001)).toBe(1)
  expect(sinceAfter(7001, 1, 1)).toBe(1)
  expect(sinceAfter(7001, 1, 1, 1)).toBeNull()
})

it('a store that cannot be reached is not late', () => {
  expect(sinceAfter(501, 501, null, 501, 501)).toBeNull()
  expect(sinceAfter(501, 501, 501, null)).toBeNull()
})

it('the verdict changes only by as many measurements in a row as speak for it', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 800 })), (times) => {
      for (let end = 1; end <= times.length; end += 1) {
        const [before, after] = [judge(times.slice(0, end - 1)), judge(times.slice(0, end))]
        if ((before.since === null) === (after.since === null)) continue
        const last = times.slice(Math.max(0, end - IN_A_ROW), end)
        expect(last).toHaveLength(IN_A_ROW)
        expect(last.every((ms) => (after.since === null ? ms <= LIMITS.inTimeMs : ms > LIMITS.lateMs))).toBe(true)
      }
    }),
  )
})
