/** Evaluates the rules of branches on the facts of a contact. */
import { compileSegments } from '../rules/segments/compile/compile-segments.ts'
import type { SegmentFacts } from '../rules/segments/membership/facts.ts'
import { resolveRule } from '../rules/segments/resolve-rule.ts'
import type { ResolvedRule, Rule } from '../rules/segments/rule.ts'
import { type Definitions, rulesOf } from '../segments/load-definitions.ts'

/** Returns true when a rule matches a contact at an instant. It names only segments of the business. */
export function testRule(rule: Rule, facts: SegmentFacts, { definitions, now }: RuleContext): boolean {
  const compiled = { no: 0, segmentId: '', isBuilding: false, rule: resolveBranch(rule, definitions) }
  const [segment] = compileSegments([compiled], definitions.fields).all
  return segment?.test(facts, now) ?? false
}

export interface RuleContext {
  definitions: Definitions
  now: number
}

export const resolveBranch = (rule: Rule, definitions: Definitions): ResolvedRule =>
  resolveRule(rule, { ...definitions, segments: rulesOf(definitions) })
