import type { FieldType } from '../events/facts.ts'
import { compileCondition } from './compile/compile-condition.ts'
import type { Seen } from './compile/compiled-condition.ts'
import { matches } from './evaluate.ts'
import type { SegmentFacts } from './membership/facts.ts'
import { windowedConditionsOf } from './windows/windows-of.ts'
import type { Condition, ResolvedFactCondition, ResolvedRule, ResolvedSegmentCondition } from './rule.ts'

/** A rule as it was written, with its answers and the values that each condition read. */
export type ExplainedRule =
  | { all: ExplainedRule[]; matches: boolean }
  | { any: ExplainedRule[]; matches: boolean }
  | { not: ExplainedRule; matches: boolean }
  | ExplainedCondition
/** `stale`: events or time may have changed the counted value since the timeline was read. */
export type ExplainedCondition = Condition & { matches: boolean; seen: Seen; stale?: true }

/** @param isStale whether the windows among the facts are stale */
export function explainRule(
  rule: ResolvedRule,
  facts: SegmentFacts,
  fields: ReadonlyMap<string, FieldType>,
  now: number,
  isStale = false,
): ExplainedRule {
  const explain = (inner: ResolvedRule) => explainRule(inner, facts, fields, now, isStale)
  if ('all' in rule) {
    const all = rule.all.map(explain)
    return { all, matches: all.every((inner) => inner.matches) }
  }
  if ('any' in rule) {
    const any = rule.any.map(explain)
    return { any, matches: any.some((inner) => inner.matches) }
  }
  if ('not' in rule) {
    const not = explain(rule.not)
    return { not, matches: !not.matches }
  }
  const explained =
    'segment' in rule
      ? explainSegment(rule, matches(rule.rule, facts, fields, now))
      : explainCondition(rule, facts, fields, now)
  const readsWindows = windowedConditionsOf('segment' in rule ? rule.rule : rule).length > 0
  return isStale && readsWindows ? { ...explained, stale: true } : explained
}

function explainSegment({ segment, operator }: ResolvedSegmentCondition, isMember: boolean): ExplainedCondition {
  return { segment, operator, matches: isMember === (operator === 'is_member'), seen: isMember }
}

function explainCondition(
  condition: ResolvedFactCondition,
  facts: SegmentFacts,
  fields: ReadonlyMap<string, FieldType>,
  now: number,
): ExplainedCondition {
  const { written, ...resolved } = condition
  const { test, seen } = compileCondition(resolved, fields)
  return { ...(written ?? resolved), matches: test(facts, now), seen: seen(facts) }
}
