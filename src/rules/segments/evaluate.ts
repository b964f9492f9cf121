import type { FieldType } from '../events/facts.ts'
import { compileRule } from './compile/compile-rule.ts'
import type { SegmentFacts } from './membership/facts.ts'
import type { ResolvedRule } from './rule.ts'

/**
 * Returns whether a rule is true of a contact at the instant `now` (epoch ms). To evaluate a rule often, compile it
 * once.
 */
export function matches(
  rule: ResolvedRule,
  facts: SegmentFacts,
  fields: ReadonlyMap<string, FieldType>,
  now: number,
): boolean {
  return compileRule(rule, fields).test(facts, now)
}
