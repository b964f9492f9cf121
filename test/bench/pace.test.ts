import { expect, test } from 'vitest'
import { createPace } from './generator/pace.ts'
import type { LoadPlan } from './generator/plan.ts'

const plan = (more: Partial<LoadPlan>): LoadPlan => ({
  url: 'http://127.0.0.1',
  keys: ['k'],
  traffic: { kind: 'typical', prefix: '' },
  first: 0,
  pace: { kind: 'open', rate: 100 },
  connections: 1,
  seconds: 2,
  ...more,
})

test('an open loop is due by the clock, from the first instant to the last', () => {
  const pace = createPace(plan({}))
  expect([0, 9.9, 10, 25, 1999, 2000, 9999].map((at) => pace.due(at))).toEqual([1, 1, 2, 3, 200, 200, 200])
  expect([0, 1, 199].map((n) => pace.dueAt(n, 5000))).toEqual([0, 10, 1990])
})

test('what could not be sent by the end is made up for, or dropped', () => {
  expect(createPace(plan({})).due(2001)).toBe(200)
  expect(createPace(plan({ dropLate: true })).due(1999)).toBe(200)
  expect(createPace(plan({ dropLate: true })).due(2001)).toBe(0)
})

test('a closed loop sends whenever it may, and is never late', () => {
  const pace = createPace(plan({ pace: { kind: 'closed' } }))
  expect([0, 1999, 2000].map((at) => pace.due(at))).toEqual([Infinity, Infinity, 0])
  expect(pace.dueAt(7, 123)).toBe(123)
  expect(createPace(plan({ pace: { kind: 'closed' }, requests: 5 })).due(0)).toBe(5)
})
