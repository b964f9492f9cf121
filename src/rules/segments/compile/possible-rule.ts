import { daysToMs } from '../decimals.ts'
import { isTimedCondition } from '../membership/reads-of.ts'
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
  if (!isTimedCondition(rule)) return rule
  return of === 'ever' ? everTrue(rule, since) : alwaysTrue(rule, since)
}

function everTrue(condition: ResolvedFactCondition, since: number): ResolvedRule {
  // Every date becomes old.
  if (condition.operator === 'older_than_days') return on(condition, 'exists')
  const span = condition.operator === 'within_days' ? spanOf(condition) : 0
  return on(condition, 'after', since - span - 1)
}

function alwaysTrue(condition: ResolvedFactCondition, since: number): ResolvedRule {
  if (condition.operator === 'older_than_days') return on(condition, 'before', since - spanOf(condition))
  // Every window ends.
  return { all: [on(condition, 'exists'), on(condition, 'not_exists')] }
}

/** Returns another condition on the same date. */
function on(condition: ResolvedFactCondition, operator: 'exists' | 'not_exists' | 'after' | 'before', at?: number) {
  const { value: _, written: __, ...read } = condition as ResolvedFactCondition & { value?: unknown }
  return { ...read, operator, ...(at !== undefined && { value: new Date(at).toISOString() }) } as ResolvedFactCondition
}

const spanOf = (condition: ResolvedFactCondition): number =>
  daysToMs((condition as ResolvedFactCondition & { value: number }).value)
