import type { TimedCondition } from './compile-rule.ts'
import type { SegmentFacts, TimeKey } from '../membership/facts.ts'

/** Returns the keys of the conditions whose own answer changes at the instant `at`. */
export function fixedBy(timed: readonly TimedCondition[], facts: SegmentFacts, at: number): TimeKey[] {
  return timed.filter(({ test }) => test(facts, at - 1) !== test(facts, at)).map(({ key }) => key)
}
