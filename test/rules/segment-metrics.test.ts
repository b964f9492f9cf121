import { describe, expect, test } from 'vitest'
import {
  DATE_OPERATORS,
  evaluateDate,
  evaluateNumber,
  eventPath,
  NUMBER_OPERATORS,
  type EventMetric,
  type NumberOperator,
} from '../../src/rules/segment-metrics.ts'

describe('numbers', () => {
  /** The outcome for a count of 2, 3 and 4, compared with 3. */
  const table: [NumberOperator, [number, number?], [boolean, boolean, boolean]][] = [
    ['equals', [3], [false, true, false]],
    ['not_equals', [3], [true, false, true]],
    ['greater_than', [3], [false, false, true]],
    ['greater_than_or_equal', [3], [false, true, true]],
    ['less_than', [3], [true, false, false]],
    ['less_than_or_equal', [3], [true, true, false]],
    ['between', [2, 3], [true, true, false]],
    ['between', [3, 4], [false, true, true]],
    ['between', [3, 3], [false, true, false]],
    ['between', [4, 2], [false, false, false]],
    ['between', [2], [false, false, false]],
  ]

  test.each(table)('%s %j', (operator, operands, outcome) => {
    expect([2, 3, 4].map((count) => evaluateNumber(operator, operands, count))).toEqual(outcome)
  })

  test.each(NUMBER_OPERATORS)('%s is false without the event: undefined is not zero', (operator) => {
    expect(evaluateNumber(operator, [0, 10], undefined)).toBe(false)
    expect(evaluateNumber(operator, [5, 10], undefined)).toBe(false)
  })

  test('every operator is in the table', () => {
    expect(new Set(table.map(([operator]) => operator))).toEqual(new Set(NUMBER_OPERATORS))
  })
})

describe('dates', () => {
  const DAY = 86_400_000
  const NOW = Date.UTC(2026, 5, 15, 12)

  test.each([
    ['exists', NOW, true],
    ['exists', undefined, false],
    ['not_exists', NOW, false],
    ['not_exists', undefined, true],
    ['within_days', NOW, true],
    ['within_days', NOW + 1000, true],
    ['within_days', NOW - 7 * DAY, true],
    ['within_days', NOW - 7 * DAY - 1, false],
    ['within_days', undefined, false],
    ['older_than_days', NOW, false],
    ['older_than_days', NOW - 7 * DAY, false],
    ['older_than_days', NOW - 7 * DAY - 1, true],
    ['older_than_days', undefined, false],
  ] as const)('%s 7, for %s: %s', (operator, at, outcome) => {
    expect(evaluateDate(operator, 7, at, NOW)).toBe(outcome)
  })

  test('what happened is either within or older', () => {
    for (const at of [NOW, NOW - 7 * DAY, NOW - 7 * DAY - 1, 0, -1]) {
      expect(evaluateDate('within_days', 7, at, NOW)).not.toBe(evaluateDate('older_than_days', 7, at, NOW))
    }
    expect(DATE_OPERATORS).toHaveLength(4)
  })
})

describe('eventPath', () => {
  test.each<[string, EventMetric, string]>([
    ['lesson_done', 'last', 'event.lesson_done'],
    ['lesson_done', 'count', 'event.lesson_done.count'],
    ['lesson_done', 'first', 'event.lesson_done.first'],
    ['order.count', 'last', 'event["order.count"]'],
    ['order.count', 'count', 'event["order.count"].count'],
    ['a".b', 'first', 'event["a\\".b"].first'],
    ['Lesson done', 'count', 'event.Lesson done.count'],
  ])('%s, %s is %s', (event, metric, path) => {
    expect(eventPath(event, metric)).toBe(path)
  })
})
