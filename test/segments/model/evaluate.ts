import type { FieldType } from '../../../src/rules/events/facts.ts'
import { matches } from '../../../src/rules/segments/evaluate.ts'
import type { SegmentFacts } from '../../../src/rules/segments/membership/facts.ts'
import { factConditionsOf } from '../../../src/rules/segments/membership/reads-of.ts'
import type { ResolvedFactCondition, ResolvedRule } from '../../../src/rules/segments/rule.ts'

/** Evaluates a rule from Postgres, which it compiles each time. */
export const evaluate = (
  rule: ResolvedRule,
  facts: SegmentFacts,
  fields: ReadonlyMap<string, FieldType>,
  at: number,
): boolean => matches(rule, facts, fields, at)

/** Returns the changes by time after `from`, up to `to`, found by checking every instant near a threshold. */
export function changesByTime(
  rule: ResolvedRule,
  facts: SegmentFacts,
  fields: ReadonlyMap<string, FieldType>,
  from: number,
  to: number,
): { entered: boolean; at: number }[] {
  const instants = [...new Set(factConditionsOf(rule).flatMap((condition) => thresholds(condition, facts)))]
    .filter((at) => at > from && at <= to)
    .toSorted((a, b) => a - b)
  const made: { entered: boolean; at: number }[] = []
  let was = evaluate(rule, facts, fields, from)
  for (const at of instants) {
    const is = evaluate(rule, facts, fields, at)
    if (is !== was) made.push({ entered: is, at })
    was = is
  }
  return made
}

const DAY = 86_400_000

function thresholds(condition: ResolvedFactCondition, facts: SegmentFacts): number[] {
  const value = 'value' in condition ? condition.value : undefined
  if (typeof value !== 'number') return []
  const span = Math.round(value * DAY)
  return valuesOf(condition, facts).flatMap((at) =>
    [at - span, at, at + span].flatMap((near) => [-2, -1, 0, 1, 2].map((more) => near + more)),
  )
}

function valuesOf(condition: ResolvedFactCondition, facts: SegmentFacts): number[] {
  if ('event' in condition) {
    const statistic = facts.statistics.get(condition.event)
    return statistic ? [statistic.firstAt, statistic.lastAt] : []
  }
  if ('customField' in condition) {
    const at = Date.parse(String(JSON.parse(facts.traits.get(condition.customField)?.[1] ?? 'null')))
    return Number.isNaN(at) ? [] : [at]
  }
  return [facts.createdAt]
}
