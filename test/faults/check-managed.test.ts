/** What a manager may rely on, by the answers. */
import { expect, it } from 'vitest'
import { expectedCount } from './check-managed.ts'
import type { Attempt, Outcome } from './ledger.ts'

const FORGOTTEN_AT = 100
const attempts = (outcomes: Outcome[], sentAt: number): Attempt[] =>
  outcomes.map((outcome) => ({ sentAt, endedAt: sentAt, outcome, answer: '', data: {} }))
const expected = (made: Outcome[], removed: Outcome[] = [], sentAt = FORGOTTEN_AT + 1) =>
  expectedCount({ made: attempts(made, sentAt), removed: attempts(removed, sentAt) }, FORGOTTEN_AT)

it.each<[made: Outcome[], removed: Outcome[], least: number, most: number]>([
  [[], [], 0, 0],
  [['answered'], [], 1, 1],
  [['queued'], [], 1, 1],
  [['refused'], [], 0, 0],
  [['rejected'], [], 0, 0],
  [['unknown'], [], 0, 1],
  [['refused', 'answered'], [], 1, 1],
  [['unknown', 'answered'], [], 1, 1],
  [['answered'], ['answered'], 0, 0],
  [['answered'], ['refused'], 1, 1],
  [['answered'], ['unknown'], 0, 1],
  [['unknown'], ['answered'], 0, 0],
])('made %j, removed %j: there %i to %i times', (made, removed, least, most) => {
  expect(expected(made, removed)).toEqual([least, most])
})

it('does not count on what was only queued when Redis lost its data', () => {
  expect(expected(['queued'], [], FORGOTTEN_AT)).toEqual([0, 1])
  expect(expected(['queued'], [], FORGOTTEN_AT + 1)).toEqual([1, 1])
  expect(expected(['answered'], [], FORGOTTEN_AT)).toEqual([1, 1])
})
