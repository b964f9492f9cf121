import { expect, it } from 'vitest'
import { BUDGET_MS, LONG_MS, createTimeBudget } from '../../../src/messages/templates/time-budget.ts'

const MINUTE = 60_000

it('counts the jobs that take long, and no others', () => {
  const budget = createTimeBudget()
  for (let n = 0; n < 100_000; n += 1) budget.charge('quick', LONG_MS - 1, 0)
  for (let n = 0; n < BUDGET_MS / LONG_MS - 1; n += 1) budget.charge('slow', LONG_MS, 0)
  expect([budget.isSpent('quick', 0), budget.isSpent('slow', 0), budget.isSpent('other', 0)]).toEqual([
    false,
    false,
    false,
  ])
  budget.charge('slow', LONG_MS, 0)
  expect([budget.isSpent('quick', 0), budget.isSpent('slow', 0), budget.isSpent('other', 0)]).toEqual([
    false,
    true,
    false,
  ])
})

it('gives a business its budget again in a minute, and in ten at most', () => {
  const budget = createTimeBudget()
  budget.charge('a', BUDGET_MS, 0)
  budget.charge('b', 1000 * BUDGET_MS, 0)
  expect([budget.isSpent('a', 0), budget.isSpent('a', 1)]).toEqual([true, false])
  budget.charge('a', BUDGET_MS, MINUTE)
  expect([budget.isSpent('a', MINUTE), budget.isSpent('a', MINUTE + 1)]).toEqual([true, false])
  expect([budget.isSpent('b', 9 * MINUTE), budget.isSpent('b', 9 * MINUTE + 1)]).toEqual([true, false])
})

it('forgets those who have spent nothing lately', () => {
  const budget = createTimeBudget()
  budget.charge('a', BUDGET_MS, 0)
  for (let n = 0; n < 2000; n += 1) budget.charge(`other ${n}`, LONG_MS, n * MINUTE)
  expect(budget.isSpent('a', 0)).toBe(false)
})
