import { readIso } from '../../events/read-iso.ts'
import { daysToMs } from '../decimals.ts'
import { type TimedOperator, isTimedOperator } from '../grammar/operators.ts'
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
  if (isTimedOperator(operator)) return TIMED[operator].compile(spanOf(value), mayBeAhead)
  return { test: UNTIMED[operator](value), changes: null }
}

const UNTIMED: Record<
  Exclude<DateOperator, TimedOperator>,
  (value: RuleValue | undefined) => (at: number) => boolean
> = {
  exists: () => () => true,
  not_exists: () => () => false,
  before: (value) => {
    const limit = instantOf(value)
    return (at) => at < limit
  },
  after: (value) => {
    const limit = instantOf(value)
    return (at) => at > limit
  },
}

/** Dates from an instant on, up to another; null: none. */
export type DateRange = { from?: number; to?: number } | null

interface TimedMeaning {
  compile(span: number, mayBeAhead: boolean): { test: DateTest['test']; changes: (at: number) => number[] }
  /** The dates for which it is true at some instant from `since` on. The range may hold more dates. */
  ever(since: number, span: number): DateRange
  /** The dates for which it is true at all instants from `since` on. The range may lack some. */
  always(since: number, span: number): DateRange
}

/** Spans are in whole milliseconds: instants are whole, so a fraction of a millisecond never decides. */
export const TIMED: Record<TimedOperator, TimedMeaning> = {
  within_days: {
    compile: (span, mayBeAhead) => ({
      test: (at, now) => (!mayBeAhead || at <= now) && now <= at + span,
      changes: (at) => (mayBeAhead ? [at, at + span + 1] : [at + span + 1]),
    }),
    ever: (since, span) => ({ from: since - span }),
    always: () => null,
  },
  older_than_days: {
    compile: (span) => ({ test: (at, now) => now > at + span, changes: (at) => [at + span + 1] }),
    ever: () => ({}),
    always: (since, span) => ({ to: since - span - 1 }),
  },
  within_next_days: {
    compile: (span) => ({ test: (at, now) => at - span <= now && now <= at, changes: (at) => [at - span, at + 1] }),
    ever: (since) => ({ from: since }),
    always: () => null,
  },
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
