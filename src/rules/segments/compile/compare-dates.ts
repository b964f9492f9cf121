import { readIso } from '../../events/read-iso.ts'
import { daysToMs } from '../decimals.ts'
import type { DateOperator, RuleValue } from '../rule.ts'

export interface DateTest {
  /** Returns whether a defined date (epoch ms) satisfies the operator at the instant `now`. */
  test(at: number, now: number): boolean
  /** Returns the only instants at which time alone changes the answer. Null when it never does. */
  changes: ((at: number) => number[]) | null
}

/**
 * @param mayBeAhead whether the date may be far in the future, like that of a custom field: then `within_days` ends at
 * now. (An event may be 5 minutes ahead and counts as having happened.)
 */
export function compileDateTest(operator: DateOperator, value: RuleValue | undefined, mayBeAhead: boolean): DateTest {
  switch (operator) {
    case 'exists':
      return untimed(() => true)
    case 'not_exists':
      return untimed(() => false)
    case 'before': {
      const limit = instantOf(value)
      return untimed((at) => at < limit)
    }
    case 'after': {
      const limit = instantOf(value)
      return untimed((at) => at > limit)
    }
    default:
      return compileDays(operator, spanOf(value), mayBeAhead)
  }
}

const untimed = (test: (at: number) => boolean): DateTest => ({ test, changes: null })

/** @param span in whole milliseconds: instants are whole, so a fraction of a millisecond never decides */
function compileDays(
  operator: 'within_days' | 'older_than_days' | 'within_next_days',
  span: number,
  mayBeAhead: boolean,
): DateTest {
  if (operator === 'within_next_days') {
    return { test: (at, now) => at - span <= now && now <= at, changes: (at) => [at - span, at + 1] }
  }
  if (operator === 'older_than_days') {
    return { test: (at, now) => now > at + span, changes: (at) => [at + span + 1] }
  }
  return mayBeAhead
    ? { test: (at, now) => at <= now && now <= at + span, changes: (at) => [at, at + span + 1] }
    : { test: (at, now) => now <= at + span, changes: (at) => [at + span + 1] }
}

export function instantOf(value: RuleValue | undefined): number {
  const at = typeof value === 'string' ? readIso(value) : undefined
  if (at === undefined) throw new Error('the rule was not checked: an operator of dates has no instant')
  return at
}

export function spanOf(value: RuleValue | undefined): number {
  if (typeof value !== 'number') throw new Error('the rule was not checked: an operator of dates has no days')
  return daysToMs(value)
}
