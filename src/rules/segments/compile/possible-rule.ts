import { isTimedOperator } from '../grammar/operators.ts'
import { type DateRange, TIMED, spanOf } from './compare-dates.ts'
import type { ResolvedFactCondition, ResolvedRule } from '../rule.ts'

/**
 * Returns a rule that time does not change, and that is true of every contact for which `rule` is true at some instant
 * from `since` (epoch ms) on, if the facts of the contact do not change. It may be true of other contacts, too. The
 * rule must not read counts or sums of the timeline.
 */
export const possibleRule = (rule: ResolvedRule, since: number): ResolvedRule => bound(rule, since, 'ever')

/**
 * `ever`: true if the rule is true at some instant from `since` on, and perhaps in other cases. `always`: true only if
 * the rule is true at all of these instants. A rule that is not always true is false at some instant, and vice versa:
 * `not` changes one bound into the other.
 */
type Bound = 'ever' | 'always'
const OTHER = { ever: 'always', always: 'ever' } as const satisfies Record<Bound, Bound>

function bound(rule: ResolvedRule, since: number, of: Bound): ResolvedRule {
  if ('all' in rule) return { all: rule.all.map((inner) => bound(inner, since, of)) }
  if ('any' in rule) return { any: rule.any.map((inner) => bound(inner, since, of)) }
  if ('not' in rule) return { not: bound(rule.not, since, OTHER[of]) }
  if ('segment' in rule)
    return rule.operator === 'is_member' ? bound(rule.rule, since, of) : { not: bound(rule.rule, since, OTHER[of]) }
  const { operator } = rule
  if (!isTimedOperator(operator)) return rule
  return within(rule, TIMED[operator][of](since, spanOf('value' in rule ? rule.value : undefined)))
}

/** Returns a rule that is true of the same date if it is in the range. */
function within(condition: ResolvedFactCondition, range: DateRange): ResolvedRule {
  if (range === null) return { all: [on(condition, 'exists'), on(condition, 'not_exists')] }
  const { from, to } = range
  const bounds = [
    ...(from === undefined ? [] : [on(condition, 'after', from - 1)]),
    ...(to === undefined ? [] : [on(condition, 'before', to + 1)]),
  ]
  return bounds.length === 0 ? on(condition, 'exists') : { all: bounds }
}

/** Returns another condition on the same date. */
function on(condition: ResolvedFactCondition, operator: 'exists' | 'not_exists' | 'after' | 'before', at?: number) {
  const { value: _, written: __, ...read } = condition as ResolvedFactCondition & { value?: unknown }
  return { ...read, operator, ...(at !== undefined && { value: new Date(at).toISOString() }) } as ResolvedFactCondition
}
